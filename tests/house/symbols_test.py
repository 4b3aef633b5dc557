#!/usr/bin/env python3
"""The numeric modules ask nobody but their arguments: no libm, clock, environment, entropy, locale or thread id.

usage: symbols_test.py --nm NM --compiler C++ LIBRARY...

Looks at the undefined symbols of every object in the static libraries of arith, kernels and engine. The same check is run
on an object that is compiled here and uses each of them: it must be caught, symbol by symbol.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIBM = ("exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh acosh "
        "atanh erf erfc lgamma tgamma cbrt hypot fma").split()

# Each rule: why, and the names as the linker sees them (C) or as nm -C prints them (C++).
RULES = [
    ("libm: its last bits differ between versions", re.compile(r"(__)?(%s)[fl]?(_finite)?" % "|".join(LIBM))),
    ("libmvec: vector forms of libm", re.compile(r"_ZGV\w+")),
    ("the environment", re.compile(r"(secure_|__secure_)?getenv|environ|__environ")),
    ("a random source", re.compile(r"s?rand(om)?(_r)?|[dlm]rand48|arc4random\w*|getrandom|getentropy|"
                                   r"std::(__\w+::)?random_device::.*")),
    ("a clock", re.compile(r"time|clock|clock_\w+|gettimeofday|timespec_get|localtime(_r)?|gmtime(_r)?|"
                           r"std::(__\w+::)?chrono::.*::now\(\)")),
    ("the locale", re.compile(r"setlocale|newlocale|uselocale|localeconv|strto[dfl]d?|atof|"
                              r"std::(__\w+::)?locale::locale\(.*\)")),
    ("a thread or processor id", re.compile(r"pthread_self|gettid|sched_getcpu|getcpu|get_nprocs|"
                                            r"std::(__\w+::)?thread::hardware_concurrency\(\)")),
]

CONTROL = r"""
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <locale>
#include <random>
#include <thread>
#include <pthread.h>
#include <sys/time.h>
volatile float f = 0.5f;
volatile double d = 0.5;
float Libm() {
  return expf(f) + cosf(f) + sinf(f) + powf(f, f) + logf(f) + tanhf(f) + fmaf(f, f, f) +
         static_cast<float>(exp(d) + cos(d) + sin(d) + pow(d, d) + log(d) + log2(d) + tanh(d) + fma(d, d, d));
}
long Machine() {
  timeval now;
  gettimeofday(&now, nullptr);
  srand(1);
  return (getenv("A") != nullptr) + (secure_getenv("A") != nullptr) + rand() + random() + time(nullptr) + clock() +
         now.tv_sec + std::chrono::steady_clock::now().time_since_epoch().count() +
         std::chrono::system_clock::now().time_since_epoch().count() + static_cast<long>(std::random_device()()) +
         (setlocale(LC_ALL, "") != nullptr) + (std::locale().name().size() > 0) + static_cast<long>(pthread_self()) +
         static_cast<long>(strtod("1", nullptr)) + std::thread::hardware_concurrency();
}
"""

CONTROL_SYMBOLS = """expf cosf sinf powf logf tanhf fmaf exp cos sin pow log log2 tanh fma getenv secure_getenv rand random srand
time clock gettimeofday setlocale pthread_self strtod std::locale::locale() std::thread::hardware_concurrency()
std::chrono::_V2::steady_clock::now() std::chrono::_V2::system_clock::now() std::random_device::_M_getval()""".split()

options = None


def undefined_symbols(path):
    """(object, symbol) for every undefined or weakly undefined symbol, demangled, without its version."""
    listing = subprocess.run([options.nm, "--undefined-only", "--demangle", "--print-file-name", path],
                             capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        place, _, symbol = re.split(r"\s+([UuwvW])\s+", line, maxsplit=1)
        yield pathlib.PurePath(place.rstrip(": ")).name, re.sub(r"@.*", "", symbol)


def forbidden_symbols(path):
    """(object, symbol, why) for each that breaks a rule."""
    return [(place, symbol, why) for place, symbol in undefined_symbols(path)
            for why, pattern in RULES if pattern.fullmatch(symbol)]


class SymbolsTest(unittest.TestCase):
    def test_numeric_libraries_use_no_forbidden_symbol(self):
        self.assertTrue(options.libraries, "no library was given: nothing would be checked")
        for library in options.libraries:
            with self.subTest(library=library):
                self.assertGreater(len(list(undefined_symbols(library))), 0, "nm saw nothing: is this the library?")
                self.assertEqual([], forbidden_symbols(library))

    def test_catches_every_symbol_of_the_control(self):
        with tempfile.TemporaryDirectory() as folder:
            source, thing = pathlib.Path(folder, "control.cc"), pathlib.Path(folder, "control.o")
            source.write_text(CONTROL)
            # -fno-builtin: the calls must reach the object, not be folded into instructions.
            subprocess.run([options.compiler, "-std=c++20", "-O0", "-fno-builtin", "-c", source, "-o", thing], check=True)
            caught = {symbol for _, symbol, _ in forbidden_symbols(thing)}
        self.assertEqual([], [symbol for symbol in CONTROL_SYMBOLS if symbol not in caught])

    def test_lets_ordinary_symbols_pass(self):
        for symbol in ("samebit::arith::Exp(float)", "memcpy", "samebit::kernels::Team::Run()", "operator new(unsigned long)",
                       "std::thread::join()", "samebit::arith::exp(double)", "expand", "timer", "logits"):
            self.assertEqual([], [why for why, pattern in RULES if pattern.fullmatch(symbol)], symbol)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("libraries", nargs="*")
    options = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
