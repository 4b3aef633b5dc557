#!/usr/bin/env python3
"""`samebit replay --url` against a server that goes wrong on purpose: each fault is found, and its axis named."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mock_server import Mock

arguments = None
RESTART = f"{sys.executable} -c 'import urllib.request; urllib.request.urlopen(\"MOCK/restart\")' 2>/dev/null || true"
PROMPTS = [{"id": f"p{i}", "prompt": f"Question {i}: " + "why? " * (i + 1), "max_tokens": 128} for i in range(6)]
LONG = {"id": "long", "prompt": "word " * 200}


class Found:
    """What one replay did: exit code, the two outputs, and the JSON report if it was written."""

    def __init__(self, url, *words, environment=None):
        with tempfile.TemporaryDirectory() as folder:
            prompts, report, junit, page = (os.path.join(folder, name) for name in ("p.jsonl", "r.json", "r.xml", "r.html"))
            with open(prompts, "w") as file:
                file.writelines(json.dumps(prompt) + "\n" for prompt in PROMPTS + [LONG])
            done = subprocess.run(
                [arguments.samebit, "replay", "--url", url, "--prompts", prompts, "--json", report, "--junit", junit, "--html",
                 page, *words], capture_output=True, text=True, timeout=120, env={**os.environ, **(environment or {})})
            self.code, self.said = done.returncode, done.stderr
            self.table = " ".join(done.stdout.split())  # without its line breaks
            self.json = self.junit = None
            if os.path.exists(report):
                with open(report) as file:
                    self.json = json.load(file)
                self.junit = xml.etree.ElementTree.parse(junit).getroot()
                with open(page) as file:
                    self.page = file.read()

    def cells(self, axis):
        return [cell for cell in self.json["cells"] if cell["axis"] == axis]

    def axes(self, verdict):
        return sorted({cell["axis"] for cell in self.json["cells"] if cell["verdict"] == verdict})


class ReplayUrl(unittest.TestCase):
    def replay(self, *words, environment=None, **wishes):
        with Mock(**wishes) as mock:
            words = [word.replace("MOCK", mock.url) for word in words]
            return Found(mock.url, *words, environment=environment)

    def assert_code(self, found, code):
        self.assertEqual(found.code, code, found.table + found.said)

    def test_a_sound_server_is_exact_in_all_cells(self):
        found = self.replay("--restart-command", RESTART)
        self.assert_code(found, 0)
        self.assertEqual(found.axes("exact"), sorted(["concurrency", "prompt_length", "output_length", "batch_shape", "neighbours",
                                                      "process", "order", "n", "streaming", "repeat"]))
        self.assertEqual([cell["value"] for cell in found.cells("concurrency")], ["1", "8", "32"])
        server = found.json["server"]
        self.assertEqual((server["token_identity"], server["token_identity_source"]), ("token_ids", "return_token_ids"))
        self.assertTrue(server["logprobs_compared"])
        self.assertFalse(server["logits_compared"])
        self.assertEqual(server["notes"], [])
        self.assertIn("the same token ids and log-probabilities, bit for bit", found.table)
        self.assertIsNone(found.json["base_engine_options"])
        self.assertEqual(found.junit.get("failures"), "0")
        self.assertEqual(found.junit.get("errors"), "0")
        self.assertIn(server["url"], found.page)
        self.assertIn("return_token_ids", found.page)
        self.assertNotIn("<script", found.page)

    def test_another_token_under_concurrency(self):
        found = self.replay("--axis", "concurrency", "--axis", "streaming", flip_at=5, flip_when="concurrent")
        self.assert_code(found, 1)
        self.assertEqual(found.json["axes_caught"], ["concurrency"])
        self.assertIn("these axes do it alone: concurrency", found.table)
        cell = found.cells("concurrency")[1]
        self.assertEqual(cell["first_divergence"], 5)
        self.assertEqual(cell["drift"], "batch_and_schedule")
        self.assertEqual(found.cells("concurrency")[0]["verdict"], "exact")
        self.assertEqual(found.junit.get("failures"), "2")

    def test_other_bits_under_concurrency(self):
        found = self.replay("--axis", "concurrency", flip_at=3, flip_when="concurrent", bits_only=True)
        self.assert_code(found, 1)
        differing = [s for s in found.cells("concurrency")[2]["samples"] if not s["exact"]]
        self.assertTrue(differing)
        for sample in differing:
            self.assertTrue(sample["tokens_equal"])
            self.assertFalse(sample["logprobs_equal"])
            self.assertEqual(sample["first_bit_divergence"], 3)

    def test_a_seed_that_is_taken_and_ignored(self):
        found = self.replay("--axis", "repeat", drop_seed=True)
        self.assert_code(found, 1)
        self.assertIn("these axes do it alone: repeat", found.table)
        self.assertEqual(found.cells("repeat")[0]["drift"], "sampling")
        self.assertTrue(all(s["exact"] for s in found.cells("repeat")[0]["samples"] if s["sampling"] == "greedy"))

    def test_each_axis_is_named_by_the_fault_that_only_it_shows(self):
        for when, axis in [("hot", "neighbours"), ("streamed", "streaming"), ("many", "n"), ("call_8", "repeat"),
                           ("restarted", "process"), ("concurrent", "output_length")]:
            with self.subTest(axis):
                words = ["--axis", axis]
                if axis == "process":
                    words += ["--restart-command", RESTART]
                found = self.replay(*words, flip_at=100 if axis == "output_length" else 4, flip_when=when)
                self.assert_code(found, 1)
                self.assertEqual(found.json["axes_caught"], [axis])

    def test_a_refused_seed_is_said_and_not_passed_over(self):
        found = self.replay("--axis", "n", refuse=("seed",))
        self.assert_code(found, 3)
        self.assertEqual(found.axes("not_measured"), ["n"])
        self.assertIn("did not exercise their axis (n)", found.table)
        self.assertTrue(any("refuses seed (the server answered 400: unknown field 'seed')" in note
                            for note in found.json["server"]["notes"]), found.json["server"]["notes"])

    def test_refusing_what_is_optional_lowers_the_identity_and_says_so(self):
        found = self.replay("--axis", "streaming", refuse=("return_token_ids", "logprobs", "ignore_eos"))
        self.assert_code(found, 0)
        self.assertEqual(found.json["server"]["token_identity"], "text")
        self.assertEqual(len(found.json["server"]["notes"]), 3)
        self.assertIn("the same text (the server tells no tokens); log-probabilities were not compared", found.table)

    def test_the_identity_is_the_best_that_the_server_tells(self):
        for tell, identity, source in [("content_ids", "token_ids", "the ids of the log-probability tokens"),
                                       ("bytes", "token_bytes", "the bytes of the log-probability tokens"),
                                       ("text", "text", "the text of the answer")]:
            with self.subTest(tell):
                sound = self.replay("--axis", "output_length", "--axis", "batch_shape", tell=tell)
                self.assert_code(sound, 0)
                self.assertEqual(sound.json["server"]["token_identity"], identity)
                self.assertEqual(sound.json["server"]["token_identity_source"], source)
                self.assertEqual(sound.json["server"]["logprobs_compared"], tell != "text")
                wrong = self.replay("--axis", "concurrency", tell=tell, flip_at=2, flip_when="concurrent")
                self.assert_code(wrong, 1)
                self.assertEqual(wrong.json["axes_caught"], ["concurrency"])

    def test_sglang_is_asked_by_its_own_endpoint(self):
        found = self.replay(generate=True)
        self.assert_code(found, 0)
        self.assertEqual(found.json["server"]["kind"], "SGLang")
        self.assertEqual(found.json["server"]["token_identity_source"], "output_ids of /generate")
        wrong = self.replay("--axis", "concurrency", generate=True, flip_at=2, flip_when="concurrent")
        self.assert_code(wrong, 1)

    def test_a_server_that_works_on_one_request_at_a_time_is_not_measured(self):
        for metrics in (True, False):
            with self.subTest(metrics=metrics):
                found = self.replay("--axis", "concurrency", serial=True, metrics=metrics, token_seconds=0.001)
                self.assert_code(found, 3)
                self.assertEqual(found.axes("not_measured"), ["concurrency"])
                self.assertEqual(found.cells("concurrency")[0]["verdict"], "exact")
                reason = found.cells("concurrency")[1]["not_measured_reason"]
                self.assertIn("never worked on two requests at once" if metrics else "of two streams, the second began", reason)

    def test_without_a_count_two_streams_side_by_side_are_evidence(self):
        found = self.replay("--axis", "concurrency", metrics=False)
        self.assert_code(found, 0)
        self.assertIn("two streams were seen side by side", found.cells("concurrency")[1]["evidence"])

    def test_a_fingerprint_that_moves(self):
        found = self.replay("--axis", "concurrency", fingerprint_moves=True)
        self.assert_code(found, 3)
        self.assertIn('from "fp_one" to "fp_other"', found.cells("concurrency")[1]["not_measured_reason"])

    def test_streams_that_are_cut(self):
        found = self.replay("--axis", "streaming", cut_streams=True)
        self.assert_code(found, 3)
        self.assertEqual(found.axes("not_measured"), ["streaming"])
        self.assertIn("without [DONE]", found.cells("streaming")[1]["not_measured_reason"])

    def test_answers_that_are_cut(self):
        found = self.replay("--axis", "concurrency", cut_answers=True)
        self.assert_code(found, 3)
        self.assertIn("after 15 of 16 tokens: it was cut", found.cells("concurrency")[1]["not_measured_reason"])

    def test_a_server_that_stalls(self):
        found = self.replay("--stall-seconds", "1", stall_after=0)
        self.assert_code(found, 3)
        self.assertIn("longer than 1 s without a byte", found.said)
        self.assertIsNone(found.json)
        later = self.replay("--stall-seconds", "1", "--axis", "streaming", stall_after=30)
        self.assert_code(later, 3)
        self.assertIn("longer than 1 s without a byte", later.said + later.table)

    def test_errors_of_the_server_are_told_in_its_words(self):
        for status in (500, 429):
            with self.subTest(status):
                found = self.replay("--axis", "concurrency", status_when_busy=status)
                self.assert_code(found, 3)
                reason = found.cells("concurrency")[1]["not_measured_reason"]
                self.assertIn(f"the server answered {status} (retry after 3 s): too much at once", reason)

    def test_a_restart_command_that_restarts_nothing(self):
        found = self.replay("--axis", "process", "--restart-command", "true")
        self.assert_code(found, 3)
        self.assertIn("the server was not restarted", found.cells("process")[0]["not_measured_reason"])
        failed = self.replay("--axis", "process", "--restart-command", "exit 7")
        self.assertIn("exit code 7", failed.cells("process")[0]["not_measured_reason"])

    def test_kept_answers_look_suspicious(self):
        found = self.replay("--axis", "repeat", store=True)
        self.assert_code(found, 0)
        notes = " ".join(found.json["server"]["notes"])
        self.assertIn("may keep answers", notes)
        self.assertIn("prompt tokens from its prefix cache", notes)
        self.assertIn("may keep answers", found.table)

    def test_keys(self):
        refused = self.replay(key="k1")
        self.assert_code(refused, 2)
        self.assertIn("401: a key is needed", refused.said)
        self.assert_code(self.replay("--api-key-env", "NO_SUCH_VARIABLE", key="k1"), 2)
        found = self.replay("--axis", "streaming", "--api-key-env", "KEY_OF_SERVER", environment={"KEY_OF_SERVER": "k1"}, key="k1")
        self.assert_code(found, 0)

    def test_models(self):
        several = self.replay(models=["a", "b"])
        self.assert_code(several, 2)
        self.assertIn("the server lists 2: a, b", several.said)
        chosen = self.replay("--model", "b", "--axis", "streaming", models=["a", "b"])
        self.assert_code(chosen, 0)
        self.assertEqual(chosen.json["model"]["name"], "b")

    def test_nobody_is_there(self):
        found = Found("http://127.0.0.1:1")
        self.assert_code(found, 3)
        self.assertIn("Connection refused", found.said)

    def test_what_cannot_be_asked_is_bad_input(self):
        for words in [["--url", "127.0.0.1:8080"], ["--url", "http://127.0.0.1:1", "model.gguf"], ["--model", "m", "model.gguf"],
                      ["--url", "http://127.0.0.1:1", "--control"], ["--url", "http://127.0.0.1:1", "--endpoint", "chit"], []]:
            done = subprocess.run([arguments.samebit, "replay", *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
        self.assert_code(self.replay("--axis", "threads"), 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--samebit", required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
