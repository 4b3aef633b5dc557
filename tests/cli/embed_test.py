#!/usr/bin/env python3
"""samebit embed: numbers, JSON, refusals; the same bits with every setting."""

import os
import unittest

import program
from program import samebit, tiny


def encoder():
    return os.path.join(program.arguments.models, "..", "encoders", "bert-tiny")


TEXTS = ("--text", "the cat sat on the mat", "--text", "The moon pulls!")


class Embed(unittest.TestCase):
    def test_json_says_what_was_computed_and_lines_hold_the_same_numbers(self):
        answer = samebit("embed", encoder(), *TEXTS, "--json").json()
        self.assertEqual((answer["pooling"], answer["normalized"], answer["dimensions"]), ("mean", True, 64))
        self.assertEqual([text["text"] for text in answer["texts"]], list(TEXTS[1::2]))
        self.assertEqual(answer["texts"][0]["tokens"], 8)
        for text in answer["texts"]:
            self.assertAlmostEqual(sum(x * x for x in text["embedding"]), 1, places=6)
        lines = samebit("embed", encoder(), *TEXTS).out.splitlines()
        self.assertEqual([[float(x) for x in line.split(",")] for line in lines],
                         [text["embedding"] for text in answer["texts"]])

    def test_no_setting_of_the_machine_moves_a_bit(self):
        for model, flags in ((encoder(), ()), (tiny("llama-tied.gguf"), ("--prefill-chunk", 1)), (tiny("llama-q4_1.gguf"), ())):
            base = samebit("embed", model, *TEXTS, "--json").json()["texts"]
            for more in (("--threads", 1, "--isa", "scalar"), ("--threads", 3), ("--page-tokens", 16, *flags)):
                self.assertEqual(samebit("embed", model, *TEXTS, "--json", *more).json()["texts"], base, (model, more))
            alone = samebit("embed", model, *TEXTS[:2], "--json").json()["texts"]
            self.assertEqual(alone, base[:1])

    def test_pooling_and_length_are_what_was_asked_for(self):
        digests = set()
        for flags in ((), ("--pooling", "cls"), ("--pooling", "last"), ("--no-normalize",)):
            answer = samebit("embed", encoder(), *TEXTS, "--json", *flags).json()
            digests.add(answer["texts"][0]["sha256"])
        self.assertEqual(len(digests), 4)

    def test_refusals_are_one_sentence(self):
        for words, sentence in [((encoder(),), "--text"), ((encoder(), "--text", "a", "--pooling", "max"), "mean, cls or last"),
                                ((encoder(), "--text", "a " * 400), "at most 300"),
                                ((tiny("llama-tied.gguf"), "--text", "a", "--pooling", "cls"), "'mean' or 'last'")]:
            outcome = samebit("embed", *words)
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertIn(sentence, outcome.errors)
            self.assertEqual(outcome.out, "")

    def test_commands_that_generate_refuse_an_encoder(self):
        for command in (("run", encoder(), "--prompt", "hi"), ("run", encoder(), "--raw", "hi")):
            outcome = samebit(*command)
            self.assertNotEqual(outcome.code, 0)
            self.assertIn("a sentence encoder (bert) gives vectors of texts", outcome.errors)


if __name__ == "__main__":
    program.main()
