#!/usr/bin/env python3
"""SmolLM2 answers a chat turn, and answers it alike for threads, instruction sets and one or eight in a batch."""

import unittest

import program
from program import answer, samebit

CHAT = ["--prompt", "What is gravity?", "--max-tokens", "16"]


class RealModel(unittest.TestCase):
    def test_answers_a_chat_turn(self):
        found = answer(program.arguments.smollm2, *CHAT)
        self.assertIn("Gravity", found["text"])
        self.assertEqual(found["prompt_token_ids"][0], 1)  # <|im_start|>
        self.assertTrue(found["model"]["sha256"].startswith("b179c952"))

    def test_is_the_same_for_threads_and_instruction_sets(self):
        isas = [one["isa"] for one in samebit("doctor", "--json").json()["isas"]]
        base = answer(program.arguments.smollm2, *CHAT)
        for words in [["--threads", "1"], ["--threads", "2"], *(["--isa", isa] for isa in isas)]:
            with self.subTest(words):
                self.assertEqual(
                    answer(program.arguments.smollm2, *CHAT, *words)["logits_digest"], base["logits_digest"]
                )

    def test_seeded_samples_are_repeatable_and_distinct(self):
        words = [
            "--prompt",
            "Invent a name for a dragon.",
            "--max-tokens",
            "24",
            "--temperature",
            "0.8",
            "--seed",
            "11",
        ]
        eight = answer(program.arguments.smollm2, *words, "--n", "8")
        self.assertEqual(len({tuple(choice["token_ids"]) for choice in eight["choices"]}), 8)
        alone = answer(program.arguments.smollm2, *words, "--threads", "1")
        self.assertEqual(alone["token_ids"], eight["token_ids"])
        self.assertEqual(alone["logits_digest"], eight["logits_digest"])

    def test_streams_what_the_json_says(self):
        text = answer(program.arguments.smollm2, *CHAT)["text"]
        self.assertEqual(samebit("run", program.arguments.smollm2, *CHAT).out, text)
        self.assertEqual(samebit("run", program.arguments.smollm2, *CHAT[2:], stdin=CHAT[1].encode()).out, text)


if __name__ == "__main__":
    program.main()
