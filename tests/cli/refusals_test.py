#!/usr/bin/env python3
"""Bad input ends in exit 2 and one sentence on standard error, and in a JSON error where JSON was asked for."""

import os
import tempfile
import unittest

import program
from program import samebit, tiny


class Refusals(unittest.TestCase):
    def refused(self, *words, saying, stdin=b""):
        outcome = samebit(*words, stdin=stdin)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertTrue(outcome.errors.startswith("error: "), outcome)
        self.assertEqual(outcome.errors.count("\n"), 1, f"not one sentence: {outcome}")
        self.assertIn(saying, outcome.errors)
        return outcome

    def run_refused(self, *words, saying):
        return self.refused("run", tiny("llama-q4_1.gguf"), "--raw", "abc", *words, saying=saying)

    def test_refuses_unknown_commands_and_flags(self):
        self.refused("rum", "x", saying="did you mean `samebit run`?")
        self.run_refused("--temprature", "1", saying="did you mean --temperature?")
        self.run_refused("--frobnicate", saying="unknown flag")
        self.refused("run", saying="MODEL")
        self.refused("bench", tiny("llama-q4_1.gguf"), "--row", "decode:0:0", saying="decode:BATCH:DEPTH")
        self.refused("replay", tiny("llama-q4_1.gguf"), "--axis", "weather", saying="concurrency")
        self.refused("replay", tiny("llama-q4_1.gguf"), "--quick", "--full", saying="exclude each other")

    def test_refuses_values_out_of_range(self):
        for flag, value, saying in [
            ("--temperature", "-5", "0 to 100"),
            ("--temperature", "hot", "expected a number"),
            ("--temperature", "nan", "expected a number"),
            ("--temperature", "0.001", "0.01"),
            ("--top-p", "0", "--top-p"),
            ("--top-p", "7", "--top-p"),
            ("--min-p", "1", "--min-p"),
            ("--top-k", "-3", "--top-k"),
            ("--top-k", "1.5", "--top-k"),
            ("--repetition-penalty", "0", "--repetition-penalty"),
            ("--presence-penalty", "5", "--presence-penalty"),
            ("--frequency-penalty", "-7", "--frequency-penalty"),
            ("--seed", "-1", "--seed"),
            ("--seed", "true", "--seed"),
            ("--seed", "18446744073709551616", "--seed"),
            ("--n", "0", "--n"),
            ("--n", "257", "--n"),
            ("--logit-bias", "abc=1", "--logit-bias"),
            ("--logit-bias", "5", "ID=VALUE"),
            ("--logit-bias", "5=101", "-100 to 100"),
            ("--logit-bias", "99999=1", "token ids 0 to"),
            ("--stop", "", "--stop"),
            ("--stop-id", "99999", "token ids 0 to"),
            ("--max-tokens", "0", "--max-tokens"),
            ("--threads", "0", "--threads"),
            ("--isa", "sse9", "--isa"),
            ("--kv", "f8", "f16 or f32"),
            ("--page-tokens", "48", "--page-tokens"),
            ("--tensor-parallel", "3", "--tensor-parallel"),
            ("--beam-width", "65", "--beam-width"),
            ("--context", "0", "--context"),
            ("--cache-mib", "0", "--cache-mib"),
        ]:
            with self.subTest(flag=flag, value=value):
                self.run_refused(flag, value, saying=saying)
        with self.subTest("logprobs"):
            self.run_refused("--json", "--logprobs", "1000000", saying="--logprobs")

    def test_refuses_combinations_that_mean_nothing(self):
        self.run_refused("--prompt", "x", saying="exclude each other")
        self.run_refused("--system", "x", saying="--system")
        self.run_refused("--logprobs", "2", saying="--json")
        self.run_refused("--min-tokens", "9", "--max-tokens", "3", saying="--min-tokens 9")
        self.run_refused("--beam-width", "2", "--temperature", "1", saying="--temperature 0")
        self.run_refused("--logit-bias", "5=1", "--logit-bias", "5=2", saying="twice")

    def test_refuses_files_that_are_no_models(self):
        self.refused("run", "/nowhere/model.gguf", "--raw", "x", saying="/nowhere/model.gguf")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.gguf")
            with open(tiny("llama-q4_1.gguf"), "rb") as whole, open(path, "wb") as cut:
                cut.write(whole.read()[:5000])
            self.refused("run", path, "--raw", "x", saying="cut.gguf")
            self.refused("replay", path, saying="cut.gguf")
            self.refused("bench", path, saying="cut.gguf")
            with open(path, "wb") as text:
                text.write(b"this is no model")
            self.refused("run", path, "--raw", "x", saying="expected")
            self.refused("run", folder, "--raw", "x", saying="config.json")

    def test_refuses_a_chat_turn_where_the_model_has_no_template(self):
        self.refused("run", tiny("gemma3.gguf"), "--prompt", "hello", saying="--raw")
        self.refused("run", tiny("gemma3.gguf"), saying="--raw", stdin=b"hello")

    def test_refuses_prompts_over_the_context_with_the_numbers(self):
        self.run_refused("--token-ids", ",".join(["5"] * 40), "--context", "32", saying="exclude each other")
        outcome = self.refused(
            "run", tiny("llama-q4_1.gguf"), "--token-ids", ",".join(["5"] * 40), "--context", "32", saying="40"
        )
        self.assertIn("32", outcome.errors)
        self.refused(
            "run", tiny("llama-q4_1.gguf"), "--token-ids", "5,5", "--context", "32", "--max-tokens", "31", saying="32"
        )
        self.refused("run", tiny("llama-q4_1.gguf"), "--token-ids", "5,99999", saying="99999")

    def test_gives_the_error_as_json_too(self):
        for words in (["--top-k", "x"], ["--stop-id", "99999"]):
            outcome = self.run_refused("--json", *words, saying="error")
            error = outcome.json()["error"]
            self.assertEqual(error["code"], "invalid_argument")
            self.assertIn(error["message"], outcome.errors)


if __name__ == "__main__":
    program.main()
