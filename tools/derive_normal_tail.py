#!/usr/bin/env python3
"""Derives the polynomial of NormalTail in src/arith/elementary.h: the upper tail of the normal distribution,

    erfc(a / sqrt 2) / 2 = exp(-a^2 / 2) * t * p(t)   with t = 1 / (1 + STRETCH a),   0 <= a <= LIMIT.

Without its exponential the tail is a smooth function of t, so one polynomial of degree 9 serves the whole range. Remez
exchange for the relative error in 60-digit arithmetic; the coefficients are then rounded to binary32 one by one,
highest first, and the rest is fitted again after each rounding, so that a rounding is absorbed by the coefficients
below it. Prints hex floats for the header.  Usage: tools/derive_normal_tail.py
Needs Python 3 and mpmath.
"""
import struct

from mpmath import erfc, exp, linspace, lu_solve, matrix, mp, mpf, sqrt

mp.dps = 60
DEGREE = 9
STRETCH = mpf(5) / 16  # exact in binary32; of the multiples of 1/16 the one with the smallest error
LIMIT = mpf("14.5")  # beyond it x * tail(-x) rounds to zero
T_MIN = 1 / (1 + STRETCH * LIMIT)


def to_f32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def hex_f32(x):
    mantissa, exponent = float(x).hex().split("p")
    return f"{mantissa.rstrip('0')}p{exponent}f" if "." in mantissa else f"{mantissa}p{exponent}f"


def scaled_tail(t):
    a = (1 / t - 1) / STRETCH
    return erfc(a / sqrt(2)) / 2 * exp(a * a / 2)


GRID = [(1 + T_MIN) / 2 + (1 - T_MIN) / 2 * mp.cos(mp.pi * (1 - x)) for x in linspace(0, 1, 1001)]
GRID_TAILS = [scaled_tail(t) for t in GRID]


def error(coefficients, t, tail):
    acc = mpf(0)
    for c in reversed(coefficients):
        acc = acc * t + c
    return t * acc / tail - 1


def remez(fixed):
    """Best coefficients 0..n of p with those above n given (fixed, ascending from n+1)."""
    free = DEGREE + 1 - len(fixed)
    points = [round(500 - 500 * mp.cos(mp.pi * (2 * i + 1) / (2 * (free + 1)))) for i in range(free + 1)]
    for _ in range(30):
        a, b = matrix(free + 1, free + 1), matrix(free + 1, 1)
        for i, at in enumerate(points):
            t, tail = GRID[at], GRID_TAILS[at]
            for j in range(free):
                a[i, j] = t ** (1 + j) / tail
            a[i, free] = (-1) ** i
            b[i] = 1 - sum(c * t ** (1 + free + k) for k, c in enumerate(fixed)) / tail
        solution = lu_solve(a, b)
        coefficients = [solution[j] for j in range(free)] + list(fixed)
        errors = [error(coefficients, t, tail) for t, tail in zip(GRID, GRID_TAILS)]
        extremes, best = [], 0
        for i in range(1, len(GRID)):
            if errors[i] * errors[best] < 0:
                extremes.append(best)
                best = i
            elif abs(errors[i]) > abs(errors[best]):
                best = i
        extremes.append(best)
        if len(extremes) < free + 1 or extremes[: free + 1] == points:
            break
        points = extremes[: free + 1]
    return coefficients


def main():
    fixed = []
    for _ in range(DEGREE + 1):
        coefficients = remez(fixed)
        fixed.insert(0, to_f32(coefficients[DEGREE - len(fixed)]))
    worst = max(abs(error(fixed, t, tail)) for t, tail in zip(GRID, GRID_TAILS))
    for power, c in enumerate(fixed):
        print(f"t^{power + 1}: {hex_f32(c)}")
    print(f"largest relative error of the polynomial: {mp.nstr(worst * 2**24, 4)} units of 2^-24")


if __name__ == "__main__":
    main()
