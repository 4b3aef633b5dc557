#!/usr/bin/env python3
"""Derives the polynomial of src/arith/elementary.h: exp(r) = 1 + r + r^2 * p(r) on |r| <= ln2/2.

Remez exchange for the relative error of exp(r) with p of degree 4, in 60-digit arithmetic; the coefficients are then
rounded to binary32 one by one, highest first, and the rest is fitted again after each rounding, so that a rounding is
absorbed by the coefficients below it. Prints hex floats for the header.  Usage: tools/derive_exp.py
Needs Python 3 and mpmath.
"""
import struct

from mpmath import exp, linspace, log, lu_solve, matrix, mp, mpf

mp.dps = 60
DEGREE = 4
LIMIT = log(2) / 2 * (1 + mpf(2) ** -12)  # a little beyond: r is rounded


def to_f32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def hex_f32(x):
    mantissa, exponent = float(x).hex().split("p")
    return f"{mantissa.rstrip('0')}p{exponent}f" if "." in mantissa else f"{mantissa}p{exponent}f"


def value(coefficients, r):
    acc = mpf(0)
    for c in reversed(coefficients):
        acc = acc * r + c
    return 1 + r + r * r * acc


def error(coefficients, r):
    return value(coefficients, r) / exp(r) - 1


def remez(fixed):
    """Best coefficients 0..n of p with those above n given (fixed, ascending from n+1)."""
    free = DEGREE + 1 - len(fixed)
    points = [LIMIT * mp.cos(mp.pi * (2 * i + 1) / (2 * (free + 1))) for i in range(free + 1)]
    for _ in range(30):
        a, b = matrix(free + 1, free + 1), matrix(free + 1, 1)
        for i, r in enumerate(points):
            for j in range(free):
                a[i, j] = r ** (2 + j) / exp(r)
            a[i, free] = (-1) ** i
            known = 1 + r + sum(c * r ** (2 + free + k) for k, c in enumerate(fixed))
            b[i] = 1 - known / exp(r)
        solution = lu_solve(a, b)
        coefficients = [solution[j] for j in range(free)] + list(fixed)
        grid = linspace(-LIMIT, LIMIT, 2001)
        errors = [error(coefficients, r) for r in grid]
        extremes, best = [], 0
        for i in range(1, len(grid)):
            if errors[i] * errors[best] < 0:
                extremes.append(grid[best])
                best = i
            elif abs(errors[i]) > abs(errors[best]):
                best = i
        extremes.append(grid[best])
        if len(extremes) < free + 1:
            break
        points = extremes[: free + 1]
    return coefficients


def main():
    fixed = []
    for _ in range(DEGREE + 1):
        coefficients = remez(fixed)
        fixed.insert(0, to_f32(coefficients[DEGREE - len(fixed)]))
    worst = max(abs(error(fixed, r)) for r in linspace(-LIMIT, LIMIT, 20001))
    for power, c in enumerate(fixed):
        print(f"r^{power + 2}: {hex_f32(c)}")
    print(f"largest relative error of the polynomial: {mp.nstr(worst * 2**24, 4)} units of 2^-24")
    log2e, ln2 = 1 / log(2), log(2)
    high = mpf(int(ln2 * 2**16)) / 2**16  # 16 bits: n * high is exact for |n| < 256
    print("log2(e) ", hex_f32(to_f32(log2e)), " ln2 high ", hex_f32(high), " ln2 low ", hex_f32(to_f32(ln2 - high)))


if __name__ == "__main__":
    main()
