// Rule F on 16 lanes: arith/elementary.h, operation by operation.
#pragma once

#include "arith/elementary.h"

namespace samebit::kernels {
namespace {

SAMEBIT_INLINE Floats ExpOfReduced(Floats r) {
  namespace c = arith::exp_constants;
  Floats p = Splat(c::kC6);
  p = Fma(p, r, Splat(c::kC5));
  p = Fma(p, r, Splat(c::kC4));
  p = Fma(p, r, Splat(c::kC3));
  p = Fma(p, r, Splat(c::kC2));
  return Add(Fma(p, Mul(r, r), r), Splat(1.0f));
}

// n = clamped / ln 2 rounded to nearest, kept as `shifted` = magic + n; the remainder.
SAMEBIT_INLINE Floats Reduce(Floats clamped, Floats* shifted) {
  namespace c = arith::exp_constants;
  *shifted = Fma(clamped, Splat(c::kLog2E), Splat(c::kMagic));
  const Floats n = Sub(*shifted, Splat(c::kMagic));
  return Fma(n, Splat(-c::kLn2Low), Fma(n, Splat(-c::kLn2High), clamped));
}

inline constexpr int32_t kMagicBits = 0x4b400000;  // of exp_constants::kMagic, 1.5 * 2^23
static_assert(arith::exp_constants::kMagic == 12582912.0f);

SAMEBIT_INLINE Floats ExpNeg(Floats x) {
  namespace c = arith::exp_constants;
  const Floats limit = Splat(c::kNegMin);
  Floats shifted;
  const Floats r = Reduce(Max(x, limit), &shifted);
  const Ints exponent = ShiftLeft<23>(SubInt(Bits(shifted), SplatInt(kMagicBits)));
  const Floats y = FromBits(AddInt(Bits(ExpOfReduced(r)), exponent));
  return IfGreater(x, limit, y, Splat(0.0f));
}

SAMEBIT_INLINE Floats Exp(Floats x) {
  namespace c = arith::exp_constants;
  Floats shifted;
  const Floats r = Reduce(MinOf(Max(x, Splat(c::kMin)), Splat(c::kMax)), &shifted);
  const Floats mantissa = ExpOfReduced(r);
  const Ints whole = SubInt(Bits(shifted), SplatInt(kMagicBits));
  const Ints half = ShiftRight<1>(whole);
  const Ints bias = SplatInt(127);
  const Floats first = FromBits(ShiftLeft<23>(AddInt(half, bias)));
  const Floats second = FromBits(ShiftLeft<23>(AddInt(SubInt(whole, half), bias)));
  return Mul(Mul(mantissa, first), second);
}

SAMEBIT_INLINE Floats Silu(Floats x) {
  return Div(x, Add(Splat(1.0f), Exp(Sub(Splat(0.0f), x))));
}

SAMEBIT_INLINE Floats GeluTanh(Floats x) {
  const Floats minus_two_u = Mul(x, Fma(Mul(x, x), Splat(arith::kGeluCubic), Splat(arith::kGeluLinear)));
  return Div(x, Add(Splat(1.0f), Exp(minus_two_u)));
}

SAMEBIT_INLINE Floats NormalTail(Floats a) {
  namespace c = arith::normal_tail_constants;
  const Floats clamped = MinOf(a, Splat(c::kLimit));
  const Floats t = Div(Splat(1.0f), Fma(clamped, Splat(c::kStretch), Splat(1.0f)));
  Floats p = Splat(c::kC9);
  p = Fma(p, t, Splat(c::kC8));
  p = Fma(p, t, Splat(c::kC7));
  p = Fma(p, t, Splat(c::kC6));
  p = Fma(p, t, Splat(c::kC5));
  p = Fma(p, t, Splat(c::kC4));
  p = Fma(p, t, Splat(c::kC3));
  p = Fma(p, t, Splat(c::kC2));
  p = Fma(p, t, Splat(c::kC1));
  p = Fma(p, t, Splat(c::kC0));
  const Floats square = Mul(clamped, clamped);
  const Floats rest = Fma(clamped, clamped, Sub(Splat(0.0f), square));
  const Floats power = Exp(Mul(Splat(-0.5f), square));
  return Mul(Mul(t, p), Fma(power, Mul(Splat(-0.5f), rest), power));
}

SAMEBIT_INLINE Floats GeluErf(Floats x) {
  const Floats zero = Splat(0.0f);
  const Floats tail = NormalTail(FromBits(And(Bits(x), SplatInt(0x7fffffff))));
  return IfGreater(x, zero, Fma(Sub(zero, x), tail, x), Mul(x, tail));
}

// One number through the 16-lane function: the same operations, and no second source of them.
SAMEBIT_INLINE float ExpNegOf(float x) { return FirstLane(ExpNeg(Splat(x))); }

}  // namespace
}  // namespace samebit::kernels
