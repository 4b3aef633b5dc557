#!/usr/bin/env python3
"""The official openai package for JavaScript against the server: javascript/openai.mjs asks, each check is a test here."""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "server"))

import program
from program import Server

CHECKS = ["the_same_seed_gives_the_same_answer", "a_stream_is_the_whole_answer", "the_stream_helper_puts_the_answer_together",
          "many_at_once_equal_one_alone", "samples_are_numbered_and_repeat", "completions_score_a_prompt", "models_are_listed",
          "errors_become_its_exceptions"]


class OpenAiJavaScript(unittest.TestCase):
    def test_every_check_of_the_script(self):
        folder = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "clients-js")
        with Server("--served-model-name", "smol") as server:
            done = subprocess.run(["node", os.path.join(HERE, "javascript", "openai.mjs"), f"http://127.0.0.1:{server.port}/v1", folder],
                                  capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(sorted(said), sorted(CHECKS))
        for name in CHECKS:
            with self.subTest(name):
                self.assertEqual(said[name], "ok")


if __name__ == "__main__":
    program.main()
