#!/usr/bin/env python3
"""One request has one answer: the same bits for every thread count, instruction set and engine setting, and for the
seed that was reported; another seed gives another answer (the negative control of all that)."""

import struct
import unittest

import program
from program import answer, samebit, tiny

MODEL = "llama-q4_1.gguf"
GREEDY = ["--raw", "the quick brown fox", "--max-tokens", "24", "--ignore-eos"]
SAMPLED = [*GREEDY, "--temperature", "0.8"]


def isas():
    return [one["isa"] for one in samebit("doctor", "--json").json()["isas"]]


class Answers(unittest.TestCase):
    def test_json_holds_what_it_promises(self):
        found = answer(tiny(MODEL), *GREEDY, "--logprobs", "3", "--score-prompt")
        for key in (
            "text",
            "token_ids",
            "prompt_token_ids",
            "finish_reason",
            "usage",
            "seed",
            "effective_sampling",
            "logits_digest",
            "answer_digest",
            "model",
            "arithmetic",
            "isa",
            "threads",
        ):
            self.assertIn(key, found)
        self.assertEqual(found["finish_reason"], "length")
        self.assertEqual(len(found["token_ids"]), 24)
        usage = found["usage"]
        self.assertEqual(usage["prompt_tokens"], len(found["prompt_token_ids"]))
        self.assertEqual(usage["completion_tokens"], 24)
        self.assertEqual(usage["total_tokens"], usage["prompt_tokens"] + 24)
        self.assertEqual(found["effective_sampling"]["max_tokens"], {"value": 24, "source": "request"})
        self.assertEqual(found["effective_sampling"]["temperature"], {"value": 0, "source": "server"})
        self.assertRegex(found["model"]["sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(len(found["prompt_logprobs"]), usage["prompt_tokens"] - 1)
        self.assertEqual(len(found["logprobs"]), 24)
        for record in found["logprobs"]:
            self.assertEqual(len(record["top"]), 3)
            self.assertEqual(record["top"][0]["id"], record["id"])  # greedy takes the first
            for name in ("logprob", "margin"):
                bits = struct.unpack("<I", struct.pack("<f", record[name]))[0]
                self.assertEqual(f"0x{bits:08x}", record[name + "_bits"])  # the decimal reads back as the bits

    def test_no_setting_of_the_engine_moves_a_bit(self):
        base = answer(tiny(MODEL), *GREEDY)
        settings = [
            ["--threads", "1"],
            ["--threads", "2"],
            ["--threads", "3"],
            ["--page-tokens", "16"],
            ["--prefill-chunk", "1"],
            ["--prefill-chunk", "7"],
            ["--no-prefix-cache"],
            ["--tensor-parallel", "2"],
            ["--cache-mib", "8"],
            ["--context", "64"],
        ]
        settings += [["--isa", isa, "--threads", threads] for isa in isas() for threads in ("1", "2")]
        for words in settings:
            with self.subTest(words):
                found = answer(tiny(MODEL), *GREEDY, *words)
                for key in ("token_ids", "text", "logits_digest", "answer_digest"):
                    self.assertEqual(found[key], base[key])
        # The digests can differ: another prompt, another cache format.
        self.assertNotEqual(answer(tiny(MODEL), *GREEDY, "--kv", "f32")["logits_digest"], base["logits_digest"])
        self.assertNotEqual(
            answer(tiny(MODEL), "--raw", "the quick brown fix", *GREEDY[2:])["logits_digest"], base["logits_digest"]
        )

    def test_the_instruction_set_asked_for_is_the_one_used(self):
        for isa in isas():
            self.assertEqual(answer(tiny(MODEL), *GREEDY, "--isa", isa)["isa"], isa)

    def test_unseeded_runs_differ_and_their_seed_replays_them(self):
        first, second = answer(tiny(MODEL), *SAMPLED), answer(tiny(MODEL), *SAMPLED)
        self.assertNotEqual(first["seed"], second["seed"])
        self.assertNotEqual(first["token_ids"], second["token_ids"])
        self.assertEqual(first["effective_sampling"]["seed"]["source"], "server")
        replayed = answer(tiny(MODEL), *SAMPLED, "--seed", first["seed"])
        self.assertEqual(replayed["effective_sampling"]["seed"]["source"], "request")
        for key in ("token_ids", "logits_digest", "answer_digest", "seed"):
            self.assertEqual(replayed[key], first[key])

    def test_eight_samples_are_distinct_and_repeatable(self):
        words = [*SAMPLED, "--seed", "7", "--n", "8"]
        first, again = answer(tiny(MODEL), *words), answer(tiny(MODEL), *words, "--threads", "1")
        self.assertEqual([choice["sample_index"] for choice in first["choices"]], list(range(8)))
        self.assertEqual(len({tuple(choice["token_ids"]) for choice in first["choices"]}), 8)
        self.assertEqual(first["choices"], again["choices"])
        self.assertEqual(first["token_ids"], first["choices"][0]["token_ids"])
        alone = answer(tiny(MODEL), *SAMPLED, "--seed", "7")
        self.assertEqual(alone["token_ids"], first["token_ids"])  # the first of eight is the one of one

    def test_streamed_text_is_the_text_of_the_json(self):
        # A byte-level model at a high temperature makes much broken UTF-8; program.Outcome decodes strictly.
        for seed in range(6):
            words = ["--raw", "x", "--max-tokens", "60", "--ignore-eos", "--temperature", "2", "--seed", str(seed)]
            text = answer(tiny(MODEL), *words)["text"]
            for mode in ("--stream", "--no-stream"):
                outcome = samebit("run", tiny(MODEL), *words, mode)
                self.assertEqual((outcome.code, outcome.out), (0, text), outcome)

    def test_stop_strings_and_ids_end_the_answer(self):
        base = answer(tiny(MODEL), *GREEDY)
        third = base["token_ids"][2]
        first_at = base["token_ids"].index(third)
        stopped = answer(tiny(MODEL), *GREEDY, "--stop-id", str(third))
        self.assertEqual(stopped["finish_reason"], "stop")
        self.assertEqual(stopped["token_ids"], base["token_ids"][: first_at + 1])
        biased = answer(tiny(MODEL), *GREEDY, "--logit-bias", f"{base['token_ids'][0]}=-100")
        self.assertNotEqual(biased["token_ids"][0], base["token_ids"][0])
        middle = base["text"][len(base["text"]) // 2 :][:2]
        self.assertTrue(middle)
        cut = answer(tiny(MODEL), *GREEDY, "--stop", middle)
        self.assertEqual(cut["finish_reason"], "stop")
        self.assertEqual(cut["text"], base["text"][: base["text"].index(middle)])

    def test_beam_search_finds_no_worse_answer_than_greedy(self):
        greedy = answer(tiny(MODEL), *GREEDY)
        beams = answer(tiny(MODEL), *GREEDY, "--beam-width", "4", "--n", "4")
        scores = [choice["cumulative_logprob"] for choice in beams["choices"]]
        self.assertEqual(len(scores), 4)
        self.assertGreaterEqual(scores[0], greedy["cumulative_logprob"] - 1e-6)
        self.assertEqual(len({tuple(choice["token_ids"]) for choice in beams["choices"]}), 4)

    def test_a_folder_is_a_model_too(self):
        found = answer(tiny("llama-tied"), "--raw", "abc", "--max-tokens", "4")
        names = [file["path"] for file in found["model"]["files"]]
        self.assertIn("config.json", names)


if __name__ == "__main__":
    program.main()
