#!/usr/bin/env python3
"""Fast-math cannot get in: the source refuses it, and no compile command of the build asks for it.

usage: fast_math_test.py --compiler C++ --commands BUILD/compile_commands.json

That contraction is really off is proved by a value, in arith's own tests: a triple whose fused and unfused results differ.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import house

REFUSAL = "do not build with -ffast-math"
NUMERIC_MODULES = ("arith", "kernels", "engine")
RELAXING = {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math",
            "-ffinite-math-only", "-mrecip", "-mdaz-ftz", "-ffp-contract=fast", "-ffp-contract=on"}

options = None


def compile_unit(*flags):
    """Compiles a unit that includes the environment of the law. Returns (succeeded, what the compiler said)."""
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder, "unit.cc")
        unit.write_text('#include "arith/environment.h"\nint main() { return 0; }\n')
        result = subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", "-I", house.ROOT / "src", *flags, unit],
                                capture_output=True, text=True)
    return result.returncode == 0, result.stderr


def problems_of(command, module):
    """What is wrong with the flags of one compile command."""
    flags = shlex.split(command)
    problems = [flag for flag in flags if flag.split(",")[0] in RELAXING]
    contraction = [flag for flag in flags if flag.startswith("-ffp-contract")]
    if module in NUMERIC_MODULES and contraction[-1:] != ["-ffp-contract=off"]:
        problems.append("without -ffp-contract=off")
    return problems


class FastMathTest(unittest.TestCase):
    def test_the_law_compiles_without_fast_math(self):
        for level in ("-O0", "-O2", "-O3"):
            succeeded, said = compile_unit(level)
            self.assertTrue(succeeded, said)

    def test_the_law_refuses_fast_math(self):
        for flag in ("-ffast-math", "-Ofast"):
            succeeded, said = compile_unit("-O2", flag)
            self.assertFalse(succeeded, flag)
            self.assertIn(REFUSAL, said)

    def test_no_compile_command_relaxes_arithmetic(self):
        commands = json.loads(pathlib.Path(options.commands).read_text())
        seen = set()
        for entry in commands:
            place = pathlib.Path(entry["file"])
            module = place.relative_to(house.ROOT / "src").parts[0] if place.is_relative_to(house.ROOT / "src") else ""
            seen.add(module)
            self.assertEqual([], problems_of(entry["command"], module), entry["file"])
        self.assertLessEqual({"arith", "kernels"}, seen, "the numeric modules are not in the build's commands")

    def test_catches_a_command_that_relaxes_arithmetic(self):
        self.assertEqual(["-ffast-math"], problems_of("g++ -ffast-math -c a.cc", "cli"))
        self.assertEqual(["-ffp-contract=fast", "without -ffp-contract=off"],
                         problems_of("g++ -ffp-contract=off -ffp-contract=fast -c a.cc", "arith"))
        self.assertEqual(["without -ffp-contract=off"], problems_of("g++ -O2 -c a.cc", "kernels"))
        self.assertEqual([], problems_of("g++ -O2 -ffp-contract=off -c a.cc", "engine"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--commands", required=True)
    options = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
