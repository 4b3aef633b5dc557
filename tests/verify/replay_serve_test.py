#!/usr/bin/env python3
"""`samebit replay --url` against `samebit serve`: exact in all cells, with the real model and with a tiny one."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))

import program
from program import Server

TINY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "models", "llama-q8_0.gguf")
AXES = ["concurrency", "prompt_length", "output_length", "batch_shape", "neighbours", "order", "n", "streaming", "repeat"]


def replay(server, *words):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        done = subprocess.run([program.arguments.samebit, "replay", "--url", f"http://127.0.0.1:{server.port}", "--json", report, *words],
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        with open(report) as file:
            return json.load(file)


class ReplayServe(unittest.TestCase):
    def check(self, report, endpoint, axes=AXES):
        self.assertEqual({cell["verdict"] for cell in report["cells"]}, {"exact"})
        self.assertEqual({cell["axis"] for cell in report["cells"]}, set(axes))
        server = report["server"]
        self.assertEqual((server["kind"], server["endpoint"]), ("samebit", endpoint))
        self.assertEqual(server["token_identity_source"], "return_token_ids")
        self.assertTrue(server["logprobs_compared"])
        self.assertTrue(server["system_fingerprint"].startswith("numeric "), server)
        self.assertGreater(sum(len(cell["samples"]) for cell in report["cells"]), 150)

    def test_the_real_model_is_exact_in_all_cells(self):
        with Server("--max-sequences", "32") as server:
            self.check(replay(server), "/v1/chat/completions")

    def test_a_tiny_model_is_exact_in_all_cells(self):
        with Server(model=TINY) as server:
            # Its context of 256 tokens, each a byte, has no room for what counts as a long prompt.
            axes = [axis for axis in AXES if axis != "prompt_length"]
            words = [word for axis in axes for word in ("--axis", axis)]
            self.check(replay(server, "--endpoint", "completions", *words), "/v1/completions", axes)


if __name__ == "__main__":
    program.main()
