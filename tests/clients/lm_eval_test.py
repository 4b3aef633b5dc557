#!/usr/bin/env python3
"""lm_eval's local-completions against the server: the float32 model's scores, and the same bits in every batch.

The tasks and what the same harness computes of them with the float32 model: tests/data/lm_eval.
"""

import copy
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from itertools import zip_longest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))

import program
from program import Server

DATA = pathlib.Path(__file__).parents[1] / "data" / "lm_eval"
EXPECTED = json.loads((DATA / "expected.json").read_text())
CHOICES = ("samebit_facts", "samebit_grammar")
PROSE, GO_ON = "samebit_prose", "samebit_go_on"
TASKS = (*CHOICES, PROSE, GO_ON)

# The server multiplies Q4_1 weights with int8 activations, the reference is float32. README.md of the data tells what
# was measured, and what float32 loses by the same rounding alone.
LOGLIKELIHOOD_TOLERANCE = 0.8  # nats, of one choice: some words or a sentence
PERPLEXITY_TOLERANCE = 0.01    # of the perplexity of the prose
MARGIN_TOLERANCE = 0.6         # nats: where float32 decided for a token by more, the same one is wanted


class Run:
    """One evaluation: metrics {task: {name: value}}; docs {task: one {"responses", "scores"} per document, in order}.
    Responses as they are written: numbers with all the digits that make them that double again."""

    def __init__(self, metrics, docs):
        self.metrics, self.docs = metrics, docs


def evaluate(server, batch_size, *more_arguments, tasks=TASKS):
    """lm_eval's command line against the server. more_arguments: of the model, "name=value"."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HF_HOME": folder, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
                       "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        model = ["model=smol", f"base_url=http://127.0.0.1:{server.port}/v1/completions", "max_retries=1",
                 f"max_length={EXPECTED['length_max']}", *more_arguments]
        done = subprocess.run(
            [sys.executable, "-m", "lm_eval", "run", "--model", "local-completions", "--model_args", ",".join(model),
             "--include_path", str(DATA), "--tasks", ",".join(tasks), "--batch_size", str(batch_size),
             "--output_path", os.path.join(folder, "out"), "--log_samples"],
            cwd=DATA, env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stdout[-2000:] + done.stderr[-6000:])
        return read_run(os.path.join(folder, "out"), tasks)


def read_run(folder, tasks):
    def one(pattern):
        (path,) = glob.glob(os.path.join(folder, "*", pattern))
        return pathlib.Path(path).read_text()

    results = json.loads(one("results_*.json"))["results"]
    metrics, docs = {}, {}
    for task in tasks:
        metrics[task] = {name.split(",")[0]: value for name, value in results[task].items()
                         if isinstance(value, float) and "stderr" not in name}
        samples = [json.loads(line) for line in one(f"samples_{task}_*.jsonl").splitlines()]
        docs[task] = [{"responses": [response for (response,) in sample["resps"]],
                       "scores": {name: sample[name] for name in sample["metrics"]}}
                      for sample in sorted(samples, key=lambda sample: sample["doc_id"])]
    return Run(metrics, docs)


def unequal_bits(a, b):
    """Where two runs of the same tasks are not the same to the last bit."""
    found = []
    for task in a.docs.keys() | b.docs.keys():
        if a.metrics.get(task) != b.metrics.get(task):
            found.append(f"{task}: {a.metrics.get(task)} and {b.metrics.get(task)}")
        pairs = zip_longest(a.docs.get(task, ()), b.docs.get(task, ()))
        found += [f"{task} {i}: {x} and {y}" for i, (x, y) in enumerate(pairs) if x != y]
    return found


def far_from_float32(run):
    """Where a run is not what the float32 model says: beyond the tolerances, or at all where none is named."""
    found = []
    for task, docs in run.docs.items():
        wanted = EXPECTED["tasks"][task]
        if wanted["metrics"].keys() != run.metrics[task].keys() or len(docs) != len(wanted["docs"]):
            found.append(f"{task}: {len(docs)} documents, the metrics {sorted(run.metrics[task])}")
        for name in wanted["metrics"].keys() & run.metrics[task].keys():
            value, given = wanted["metrics"][name], run.metrics[task][name]
            allowed = PERPLEXITY_TOLERANCE * value if task == PROSE else 1e-6  # the file has six digits
            if not abs(given - value) <= allowed:
                found.append(f"{task}: {name} {given}, expected {value}")
        for i, (doc, expected) in enumerate(zip(docs, wanted["docs"])):
            if task != PROSE and doc["scores"] != expected["scores"]:
                found.append(f"{task} {i}: {doc['scores']}, expected {expected['scores']}")
            if task in CHOICES:
                found += [f"{task} {i}: {sentence}" for sentence in far_choices(doc["responses"], expected)]
            if task == GO_ON and doc["responses"] != [expected["text"]]:
                found.append(f"{task} {i}: {doc['responses']}, expected {expected['text']!r}")
    return found


def far_choices(responses, expected):
    """responses: [log-likelihood, is it the greedy one] per choice, as text."""
    for j, (value, greedy) in enumerate(responses):
        wanted = expected["loglikelihoods"][j]
        if not abs(float(value) - wanted) <= LOGLIKELIHOOD_TOLERANCE:
            yield f"log-likelihood {j} is {value}, expected {wanted}"
        if greedy != str(expected["greedy"][j]) and expected["greedy_margins"][j] > MARGIN_TOLERANCE:
            yield f"choice {j} is greedy: {greedy}"


class LmEval(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # With the bodies of requests in the log, which tells the way that was taken.
        cls.server = Server("--served-model-name", "smol", "--log-prompts").__enter__()
        cls.one, cls.asked_one = cls.logged(1, "tokenizer_backend=remote")
        cls.eight, cls.asked_eight = cls.logged(8, "tokenizer_backend=remote")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    @classmethod
    def logged(cls, *words, **more):
        """(the run, {"scored", "generated": the number of prompts of each such request})"""
        begin = len(cls.server.lines)
        run = evaluate(cls.server, *words, **more)
        lines = [json.loads(line) for line in cls.server.lines[begin:] if line.startswith("{")]
        refused = [line for line in lines if line["http.response.status_code"] != 200]
        assert not refused, refused[:3]
        assert any(line["url.path"] == "/tokenizer_info" for line in lines)
        asked = {"scored": [], "generated": []}
        for line in lines:
            if line["http.route"] == "/v1/completions":
                body = json.loads(line["samebit.request.body"])
                assert all(isinstance(ids[0], int) for ids in body["prompt"]), "prompts are token ids"
                assert len(line["gen_ai.response.finish_reasons"]) == len(body["prompt"])
                scores = body.get("echo") is True and body["logprobs"] == 1
                asked["scored" if scores else "generated"].append(len(body["prompt"]))
        return run, asked

    def test_it_really_asks_with_one_and_with_eight_prompts(self):
        choices = sum(len(doc["loglikelihoods"]) for task in CHOICES for doc in EXPECTED["tasks"][task]["docs"])
        texts = len(EXPECTED["tasks"][GO_ON]["docs"])
        windows = len(self.asked_one["scored"]) - choices
        self.assertGreater(windows, len(EXPECTED["tasks"][PROSE]["docs"]))
        self.assertEqual((set(self.asked_one["scored"]), self.asked_one["generated"]), ({1}, [1] * texts))
        self.assertEqual(sum(self.asked_eight["scored"]), choices + windows)
        self.assertGreaterEqual(self.asked_eight["scored"].count(8), choices // 8)
        self.assertEqual((sum(self.asked_eight["generated"]), self.asked_eight["generated"][0]), (texts, 8))

    def test_scores_are_those_of_the_float32_model(self):
        self.assertEqual(far_from_float32(self.one), [])

    def test_no_question_is_closer_than_the_tolerance(self):
        # So that equal scores follow from log-likelihoods within it; acc_norm divides them by the choice's length.
        facts = [json.loads(line) for line in (DATA / "facts.jsonl").read_text().splitlines()]
        for task, texts in (("samebit_facts", [fact["choices"] for fact in facts]), ("samebit_grammar", None)):
            for i, doc in enumerate(EXPECTED["tasks"][task]["docs"]):
                for lengths in [[1] * len(doc["loglikelihoods"])] + ([list(map(len, texts[i]))] if texts else []):
                    values = [value / length for value, length in zip(doc["loglikelihoods"], lengths)]
                    (best, a), *others = sorted(zip(values, lengths), reverse=True)
                    for value, b in others:
                        self.assertGreater(best - value, LOGLIKELIHOOD_TOLERANCE * (1 / a + 1 / b), (task, i))
        self.assertGreater(min(doc["margin"] for doc in EXPECTED["tasks"][GO_ON]["docs"]), MARGIN_TOLERANCE)

    def test_batches_and_neighbours_change_no_bit(self):
        self.assertEqual(unequal_bits(self.one, self.eight), [])
        # Nobody names the tokenizer here: the harness finds out that this server has one.
        four, asked = self.logged(2, "num_concurrent=4")
        self.assertEqual(max(asked["scored"]), 2)
        self.assertEqual(unequal_bits(self.one, four), [])

    def test_another_first_token_is_seen(self):
        other = evaluate(self.server, 8, "tokenizer_backend=remote", "custom_prefix_token_id=0", tasks=["samebit_grammar"])
        self.assertNotEqual(far_from_float32(other), [])

    def test_one_changed_weight_is_seen_in_the_bits_only(self):
        with tempfile.TemporaryDirectory() as folder:
            changed = os.path.join(folder, "changed.gguf")
            shutil.copyfile(program.arguments.model, changed)
            with open(changed, "r+b") as file:
                file.seek(os.path.getsize(changed) * 2 // 3)  # among the weights of the layers
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 1]))
            with Server("--served-model-name", "smol", model=changed) as server:
                other = evaluate(server, 8, "tokenizer_backend=remote", tasks=["samebit_grammar"])
        same_task = Run({"samebit_grammar": self.one.metrics["samebit_grammar"]},
                        {"samebit_grammar": self.one.docs["samebit_grammar"]})
        self.assertNotEqual(unequal_bits(same_task, other), [])
        self.assertEqual(far_from_float32(other), [])

    def test_each_comparison_sees_what_it_is_for(self):
        def changed(change):
            run = copy.deepcopy(self.one)
            change(run)
            self.assertEqual(len(unequal_bits(self.one, run)), 1)
            return far_from_float32(run)

        def move(run, task, by):
            response = run.docs[task][3]["responses"][1]
            response[0] = str(EXPECTED["tasks"][task]["docs"][3]["loglikelihoods"][1] + by)

        for task in CHOICES:
            self.assertEqual(len(changed(lambda run: move(run, task, LOGLIKELIHOOD_TOLERANCE * 1.01))), 1)
            self.assertEqual(changed(lambda run: move(run, task, LOGLIKELIHOOD_TOLERANCE * -0.99)), [])
        facts, prose = "samebit_facts", EXPECTED["tasks"][PROSE]["metrics"]
        for change in (
                lambda run: run.metrics[facts].update(acc=run.metrics[facts]["acc"] - 1 / len(run.docs[facts])),
                lambda run: run.metrics[facts].pop("acc_norm"),
                lambda run: run.docs[facts][0]["scores"].update(acc=1 - run.docs[facts][0]["scores"]["acc"]),
                lambda run: run.docs[facts].pop(),
                lambda run: run.docs[GO_ON][2].update(responses=[run.docs[GO_ON][2]["responses"][0] + "."]),
                lambda run: run.metrics[PROSE].update(word_perplexity=prose["word_perplexity"] * 1.011),
                lambda run: run.metrics[PROSE].update(word_perplexity=float("nan"))):
            self.assertEqual(len(changed(change)), 1)


if __name__ == "__main__":
    program.main()
