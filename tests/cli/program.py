"""Starts the samebit binary for the tests of this folder."""

import argparse
import json
import os
import subprocess
import sys
import unittest

arguments = None


def parse_arguments():
    """Reads the tests' own flags and leaves unittest's."""
    global arguments
    parser = argparse.ArgumentParser()
    parser.add_argument("--samebit", required=True)
    parser.add_argument("--models", required=True, help="folder of the tiny models")
    parser.add_argument("--smollm2", required=True)
    parser.add_argument("--gemma", required=True)
    arguments, rest = parser.parse_known_args()
    return [sys.argv[0], *rest]


def main():
    unittest.main(argv=parse_arguments(), verbosity=2)


def tiny(name):
    return os.path.join(arguments.models, name)


class Outcome:
    def __init__(self, command, done):
        self.command = " ".join(command)
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "strict")  # whatever is printed is UTF-8
        self.errors = done.stderr.decode("utf-8", "strict")

    def json(self):
        return json.loads(self.out, object_pairs_hook=without_duplicates)

    def __str__(self):
        return f"{self.command}\nexit {self.code}\n{self.out[-2000:]}\n{self.errors[-2000:]}"


def without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
    return dict(pairs)


def samebit(*words, stdin=b"", timeout=300):
    command = [arguments.samebit, *map(str, words)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=timeout)
    return Outcome(command, done)


def answer(model, *words):
    """The JSON object of a run that must succeed."""
    outcome = samebit("run", model, "--json", *words)
    assert outcome.code == 0, outcome
    return outcome.json()
