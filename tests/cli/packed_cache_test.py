#!/usr/bin/env python3
"""--packed-cache changes no answer, whoever wrote the file and whatever became of it, and touches its folder only."""

import os
import subprocess
import tempfile
import unittest

import program
from program import answer, samebit, tiny

PROMPT = ["--raw", "abc abc", "--max-tokens", "8"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


class PackedCache(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def digest(self, model, *words):
        return answer(model, *words, "--packed-cache", self.folder)["logits_digest"]

    def test_answers_alike_with_and_without(self):
        for model, words in [(tiny("llama-q4_1.gguf"), PROMPT), (tiny("gemma3"), PROMPT),
                             (program.arguments.smollm2, ["--prompt", "What is gravity?", "--max-tokens", "16"])]:
            with self.subTest(model):
                base = answer(model, *words)["logits_digest"]
                self.assertEqual(self.digest(model, *words), base)
                mapped = samebit("run", model, *words, "--packed-cache", self.folder, "--verbose")
                self.assertIn(", map ", mapped.errors)
                for isa in ["scalar", *[one["isa"] for one in samebit("doctor", "--json").json()["isas"]]]:
                    self.assertEqual(self.digest(model, *words, "--isa", isa), base)
        self.assertEqual(len(os.listdir(self.folder)), 3)

    def test_a_spoilt_file_costs_one_line(self):
        model = tiny("llama-q4_1.gguf")
        base = answer(model, *PROMPT)["logits_digest"]
        self.digest(model, *PROMPT)
        (name,) = os.listdir(self.folder)
        path = os.path.join(self.folder, name)
        good = content(path)
        for spoilt in [good[:100], good[:-1], b"", good[:9000] + b"\xff" + good[9001:]]:
            with open(path, "wb") as file:
                file.write(spoilt)
            outcome = samebit("run", model, *PROMPT, "--json", "--packed-cache", self.folder)
            self.assertEqual(outcome.json()["logits_digest"], base)
            self.assertEqual(outcome.errors.count("\n"), 1, outcome)
            self.assertTrue(outcome.errors.startswith("warning: "), outcome)
            self.assertEqual(content(path), good)

    def test_two_processes_at_once(self):
        model = program.arguments.smollm2
        command = [program.arguments.samebit, "run", model, *PROMPT, "--json", "--packed-cache", self.folder]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        told = [process.communicate(timeout=300) for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual([errors for _, errors in told], [b"", b""])
        self.assertEqual(told[0][0], told[1][0])
        self.assertEqual(len(os.listdir(self.folder)), 1)

    def test_replay_and_bench_and_soak_take_it(self):
        model = tiny("llama-q4_1.gguf")
        cache = ["--packed-cache", self.folder]
        replay = samebit("replay", model, *cache, "--axis", "process", timeout=600)
        self.assertNotEqual(replay.code, 2, replay)
        self.assertNotIn("DIVERGED", replay.out.upper())
        self.assertEqual(samebit("bench", model, *cache, "--row", "prefill:16", "--repeat", 1).code, 0)
        self.assertIn(samebit("soak", model, *cache, "--runs", 4, "--tokens", 8).code, (0, 3))
        self.assertEqual(len(os.listdir(self.folder)), 1)

    def test_refuses_a_folder_that_is_none(self):
        outcome = samebit("run", tiny("llama-q4_1.gguf"), *PROMPT, "--packed-cache", self.folder + "/no")
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn("--packed-cache", outcome.errors)


if __name__ == "__main__":
    program.main()
