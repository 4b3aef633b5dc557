#!/usr/bin/env python3
"""doctor, bench, replay, version and help from outside; a Ctrl-C leaves no half report."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

import program
from program import samebit, tiny

MODEL = "llama-q4_1.gguf"
# What the rows compute, on every machine: a digest that changes is a change of bits.
BENCH_DIGESTS = {
    "prefill:32": "b5cdc30861ee4dd5c2a5e9a651e8a1f759f2fa81638c9ba7cc0d6ec9511eb290",
    "decode:3:8": "b748566de601bf3f051792a39b642fb0fa718e8dff7bdcbcc1c3a8f4a64ca81e",
    "mixed:2:16": "e38b3c77cb5e0fabe4f5cf067cc13b8db8637d79b7f7c51dfb2c66942ccedb3c",
}


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

    def bench(self, folder, *words):
        path = os.path.join(folder, "bench.json")
        rows = [word for row in BENCH_DIGESTS for word in ("--row", row)]
        outcome = samebit("bench", tiny(MODEL), *rows, "--repeat", "2", "--json", path, *words)
        self.assertEqual(outcome.code, 0, outcome)
        with open(path, encoding="utf-8") as file:
            return json.load(file), outcome.out

    def test_bench_gives_the_recorded_digests_with_every_setting(self):
        with tempfile.TemporaryDirectory() as folder:
            for threads, isa in (("1", "scalar"), ("2", "scalar"), ("2", None)):
                found, _ = self.bench(folder, "--threads", threads, *(["--isa", isa] if isa else []))
                self.assertEqual({row["row"]: row["digest"] for row in found["rows"]}, BENCH_DIGESTS)
                self.assertEqual([row["name"] for row in found["rows"]], ["prefill", "decode", "mixed"])
                for row in found["rows"]:
                    self.assertGreater(row["tokens_per_second"], 0)
                    self.assertGreater(row["roofline_share"], 0)
                    self.assertGreater(row["phase_seconds"]["gate_up"], 0)
                    self.assertGreater(row["phase_seconds"]["attention"], 0)
                self.assertGreater(found["rows"][2]["tokens_beside"], 0)
                self.assertGreater(found["weights_bytes"], 0)
                self.assertGreater(min(found["roof"].values()), 0)
                for row in found["rows"]:  # its own roof, measured around it, is under the best of all
                    self.assertGreater(row["roof"]["bytes_per_second"], 0)
                    self.assertLessEqual(row["roof"]["bytes_per_second"], found["roof"]["bytes_per_second"])

    def test_bench_draws_the_roof_and_says_what_the_order_costs(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "roof.svg")
            found, text = self.bench(folder, "--free-order", "--svg", picture)
            self.assertIn("time with the fixed order over time with any order", text)
            self.assertEqual({row["row"]: row["digest"] for row in found["rows"]}, BENCH_DIGESTS)
            for row in found["rows"]:
                self.assertEqual(len(row["seconds_fixed_order"]), len(row["seconds_free_order"]))
                self.assertGreater(min(row["seconds_free_order"]), 0)
                cost = row["fixed_over_free"]
                self.assertLessEqual(cost["low"], cost["median"])
                self.assertLessEqual(cost["median"], cost["high"])
                self.assertEqual(cost["confidence"], 0.5)  # two pairs
            drawn = [
                element.text or ""
                for element in xml.etree.ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")
            ]
            for row in BENCH_DIGESTS:
                self.assertTrue(any(label.startswith(row) for label in drawn), drawn)

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

    def interrupt(self, child):
        """SIGINT, a second after the program began to listen for it."""
        listens = lambda: int(pathlib.Path(f"/proc/{child.pid}/status").read_text().split("SigCgt:")[1].split()[0], 16)
        while child.poll() is None and not listens() >> (signal.SIGINT - 1) & 1:
            time.sleep(0.01)
        time.sleep(1)
        self.assertIsNone(child.poll(), "it ended before it could be interrupted")
        child.send_signal(signal.SIGINT)

    def test_an_interrupted_replay_leaves_no_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            command = [program.arguments.samebit, "replay", program.arguments.smollm2, "--full", "--json", path]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.interrupt(child)
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
        self.interrupt(child)
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 3, (out, errors))
        self.assertEqual(json.loads(out)["finish_reason"], "cancelled")


if __name__ == "__main__":
    program.main()
