#!/usr/bin/env python3
"""doctor, bench, replay, version and help from outside; a Ctrl-C leaves no half report."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import program
from program import samebit, tiny

MODEL = "llama-q4_1.gguf"


class Commands(unittest.TestCase):
    def test_help_and_version_succeed(self):
        for words in (
            [],
            ["help"],
            ["--help"],
            ["run", "--help"],
            ["help", "replay"],
            ["bench", "--help"],
            ["version"],
        ):
            outcome = samebit(*words)
            self.assertEqual(outcome.code, 0, outcome)
            self.assertTrue(outcome.out)
            self.assertNotIn("replay-child", outcome.out)

    def test_doctor_proves_every_instruction_set(self):
        outcome = samebit("doctor", "--json", tiny(MODEL))
        found = outcome.json()
        self.assertEqual(outcome.code, 0 if found["tier_2_possible"] else 1)
        self.assertEqual(found["tier_2_possible"], not found["refusals"])
        self.assertEqual(found["isas"][0]["isa"], "scalar")
        for one in found["isas"]:
            self.assertTrue(one["passed"], one)
            self.assertEqual(one["digest"], found["golden_digest"])
        self.assertEqual(found["model"]["family"], "llama")
        self.assertIn("Tier 2", samebit("doctor").out)

    def test_doctor_refuses_with_a_model_that_cannot_be_used(self):
        outcome = samebit("doctor", "--json", "/nowhere/model.gguf")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("model", outcome.json()["refusals"][0])

    def test_bench_gives_the_same_digest_for_every_setting(self):
        digests = set()
        with tempfile.TemporaryDirectory() as folder:
            for threads, isa in (("1", "scalar"), ("2", "scalar"), ("2", None)):
                path = os.path.join(folder, "bench.json")
                words = [
                    "--row",
                    "prefill:32",
                    "--row",
                    "decode:3:8:4",
                    "--repeat",
                    "2",
                    "--threads",
                    threads,
                    "--json",
                    path,
                ]
                outcome = samebit("bench", tiny(MODEL), *words, *(["--isa", isa] if isa else []))
                self.assertEqual(outcome.code, 0, outcome)
                with open(path, encoding="utf-8") as file:
                    found = json.load(file)
                self.assertEqual([row["name"] for row in found["rows"]], ["prefill", "decode"])
                self.assertTrue(all(row["tokens_per_second"] > 0 for row in found["rows"]))
                self.assertGreater(found["weights_bytes"], 0)
                digests.add(tuple(row["digest"] for row in found["rows"]))
        self.assertEqual(len(digests), 1)

    def prompts(self, folder):
        path = os.path.join(folder, "prompts.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for number in range(4):
                file.write(json.dumps({"id": f"p{number}", "prompt": f"prompt number {number} of four"}) + "\n")
        return path

    def test_replay_writes_its_reports_and_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            reports = {kind: os.path.join(folder, f"report.{kind}") for kind in ("json", "junit", "html")}
            words = [word for kind, path in reports.items() for word in (f"--{kind}", path)]
            outcome = samebit(
                "replay",
                tiny(MODEL),
                "--prompts",
                self.prompts(folder),
                "--axis",
                "threads",
                "--axis",
                "process",
                *words,
            )
            self.assertEqual(outcome.code, 0, outcome)
            with open(reports["json"], encoding="utf-8") as file:
                found = json.load(file)
            values = {cell["value"]: cell["verdict"] for cell in found["cells"]}
            self.assertEqual(set(values.values()), {"exact"}, values)
            self.assertIn("restarted", " ".join(values))  # the child process ran
            for path in reports.values():
                self.assertGreater(os.path.getsize(path), 100)

    def test_replay_control_is_caught(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = samebit(
                "replay",
                tiny(MODEL),
                "--control",
                "--prompts",
                self.prompts(folder),
                "--axis",
                "threads",
                "--axis",
                "concurrency",
            )
            self.assertEqual(outcome.code, 1, outcome)

    def test_an_interrupted_replay_leaves_no_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            command = [program.arguments.samebit, "replay", program.arguments.smollm2, "--full", "--json", path]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(3)
            self.assertIsNone(child.poll(), "the replay ended before it could be interrupted")
            child.send_signal(signal.SIGINT)
            out, errors = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 3, (out, errors))
            self.assertIn(b"interrupted", errors)
            self.assertEqual(os.listdir(folder), [])

    def test_an_interrupted_answer_ends_in_order(self):
        command = [
            program.arguments.samebit,
            "run",
            program.arguments.smollm2,
            "--raw",
            "1 2 3",
            "--ignore-eos",
            "--max-tokens",
            "8000",
            "--json",
        ]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        time.sleep(2)
        self.assertIsNone(child.poll(), "the answer ended before it could be interrupted")
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 3, (out, errors))
        self.assertEqual(json.loads(out)["finish_reason"], "cancelled")


if __name__ == "__main__":
    program.main()
