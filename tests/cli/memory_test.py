#!/usr/bin/env python3
"""Resident memory stays within the weights, the KV budget and a fixed rest, at its peak, loading included."""

import os
import subprocess
import tempfile
import unittest

import program

MIB = 1 << 20
KV_MIB = 16
REST_MIB = 100


def peak_bytes(*words):
    """The peak as the operating system counted it, when the command has ended well."""
    process = subprocess.Popen([program.arguments.samebit, *map(str, words)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return usage.ru_maxrss * 1024


class Memory(unittest.TestCase):
    def within(self, model, *words):
        # Long enough to fill the widest forward pass and most of the KV budget of the default model.
        run = ["run", model, "--raw", "one two three four " * 120, "--max-tokens", 8, "--n", 2]
        weights = os.path.getsize(model)
        allowed = weights * 1.15 + (KV_MIB + REST_MIB) * MIB
        peak = peak_bytes(*run, "--cache-mib", KV_MIB, *words)
        self.assertGreater(peak, weights / 2)  # a measurement that could not fail would be of something else
        self.assertLess(peak, allowed, f"{peak / MIB:.0f} MiB, allowed {allowed / MIB:.0f}")

    def test_smollm2(self):
        self.within(program.arguments.smollm2)

    def test_gemma(self):
        self.within(program.arguments.gemma)

    def test_with_a_packed_cache(self):
        for model in program.arguments.smollm2, program.arguments.gemma:
            with tempfile.TemporaryDirectory() as folder, self.subTest(model):
                self.within(model, "--packed-cache", folder)
                self.within(model, "--packed-cache", folder)


if __name__ == "__main__":
    program.main()
