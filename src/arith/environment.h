// Rule E, environment: binary32, round to nearest even, gradual underflow, explicit fma.
//
// Every operation of the law is one of + - * / sqrt fma on binary32 or binary64, an exact conversion, or integer
// arithmetic. `a*b+c` in the source is either an explicit Fma() or a product that is rounded before it is added; the
// compiler may not contract (flags.cmake) and fast-math is refused below. No libm function is called in a forward pass.
#pragma once

#include <bit>
#include <cstdint>

#ifdef __FAST_MATH__
#error "samebit's bits are defined by IEEE 754: do not build with -ffast-math or -Ofast"
#endif

namespace samebit::arith {

// Version of the law. A change that moves a bit raises it, with a new golden file and a design note.
inline constexpr const char* kArithmeticVersion = "samebit-arith/1";

// The law's maximum: the second operand where they compare equal or a is NaN. Equals x86 maxps(a, b).
inline float Max(float a, float b) { return a > b ? a : b; }

// fma(a, b, c) with one rounding, in software: the product of two binary32 values is exact in binary64; the sum is
// rounded to odd there, so that the final rounding to binary32 is the only one that shows (Boldo and Melquiond 2008).
inline float SoftFma(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (((bits >> 52) & 0x7ff) != 0x7ff) {
    // TwoSum gives the rounding error of `sum` exactly.
    const double addend_part = sum - product;
    const double error = (product - (sum - addend_part)) + (addend - addend_part);
    if (error != 0 && (bits & 1) == 0) {
      const bool away_from_zero = (error > 0) == (sum > 0);
      bits += away_from_zero ? 1 : ~uint64_t{0};
    }
  }
  return static_cast<float>(std::bit_cast<double>(bits));
}

// fma(a, b, c), one rounding. Where the baseline of the target has an instruction it is used; the bits are the same.
inline float Fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return SoftFma(a, b, c);
#endif
}

// Puts the calling thread into the law's environment (MXCSR or FPCR: nearest even, no flush to zero, no denormals as
// zero, exceptions masked). Every worker thread calls it first.
void EnterFloatEnvironment();

// True if the calling thread computes as rule E says: rounding direction, subnormal results and inputs, fused and
// unfused multiplication, none of it folded by the compiler. Part of the start-up self-test.
bool FloatEnvironmentHolds();

}  // namespace samebit::arith
