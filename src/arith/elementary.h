// Rule F, elementary functions: fixed sequences of + - * / fma, no libm. Coefficients by tools/derive_exp.py.
//
// Errors stated here are measured by elementary_test.cc over every binary32 value of the range or a dense sample.
#pragma once

#include "arith/environment.h"
#include "arith/number_formats.h"

namespace samebit::arith {

// The error bounds that the test asserts; measured over every binary32 value of each range by
// tests/golden/function_error (worst found: 1.009, 2.443, 1.898, 13.06, 93.9, 5.978, 6.449; the binary64 ones on
// samples: 3.9 and 1.7).
inline constexpr double kExpErrorUlp = 1.02;  // Exp, also where the result is subnormal; ExpNeg
inline constexpr double kSiluErrorUlp = 2.5;
inline constexpr double kGeluPositiveErrorUlp = 2.0;   // x > 0
inline constexpr double kGeluNegativeErrorUlp = 13.5;  // -3 <= x < 0
inline constexpr double kGeluTailErrorUlp = 95.0;      // -8 <= x < -3, where the result is over -0.005
inline constexpr double kGeluErfPositiveErrorUlp = 6.5;  // x > 0
inline constexpr double kGeluErfNegativeErrorUlp = 7.0;  // x < 0, where the result is normal
inline constexpr double kError64Units = 4.5;           // Exp64, Log64: units of 2^-53 of the result's binade
inline constexpr double kSinCosErrorUnits = 2.0;       // SinCos64: units of 2^-53, absolute

namespace exp_constants {
inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kLn2High = 0x1.62e4p-1f;  // 16 bits: n * kLn2High is exact
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;
inline constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, nearest even
inline constexpr float kC6 = 0x1.6a241p-10f, kC5 = 0x1.1239f8p-7f, kC4 = 0x1.5558f2p-5f, kC3 = 0x1.555492p-3f,
                       kC2 = 0x1.fffffcp-2f;
inline constexpr float kNegMin = -87.3f;              // below it exp is under 2^-126
inline constexpr float kMin = -104.0f, kMax = 89.0f;  // below: 0; above: infinity
}  // namespace exp_constants

namespace internal {
// exp(r) for |r| <= ln2/2: 1 + (r + r^2 p(r)), p in Horner form.
inline float ExpOfReduced(float r) {
  using namespace exp_constants;
  float p = kC6;
  p = Fma(p, r, kC5);
  p = Fma(p, r, kC4);
  p = Fma(p, r, kC3);
  p = Fma(p, r, kC2);
  return Fma(p, r * r, r) + 1.0f;
}
}  // namespace internal

// exp(x) for x <= 0: softmax and sampling weights. Exactly 0 from -87.3 down and for NaN. Error at most kExpErrorUlp;
// monotone (no step back between any two neighbours of its range).
// Only for x <= 0 (or NaN, or -infinity); exp_neg(0) is exactly 1.
inline float ExpNeg(float x) {
  using namespace exp_constants;
  const float clamped = Max(x, kNegMin);
  const float shifted = Fma(clamped, kLog2E, kMagic);
  const float n = shifted - kMagic;
  const float r = Fma(n, -kLn2Low, Fma(n, -kLn2High, clamped));
  const float mantissa = internal::ExpOfReduced(r);
  const uint32_t exponent = (BitsOf(shifted) - BitsOf(kMagic)) << 23;  // n in the exponent field, modulo 2^32
  const float y = FloatOf(BitsOf(mantissa) + exponent);
  return x > kNegMin ? y : 0.0f;
}

// exp(x), whole range with gradual underflow and infinity above 88.72. NaN gives an unspecified number: callers
// detect NaN elsewhere. Error at most kExpErrorUlp.
inline float Exp(float x) {
  using namespace exp_constants;
  float clamped = Max(x, kMin);
  clamped = kMax > clamped ? clamped : kMax;
  const float shifted = Fma(clamped, kLog2E, kMagic);
  const float n = shifted - kMagic;
  const float r = Fma(n, -kLn2Low, Fma(n, -kLn2High, clamped));
  const float mantissa = internal::ExpOfReduced(r);
  // 2^n as a product of two normal powers, so that the last multiplication rounds a subnormal result once.
  const int32_t whole = static_cast<int32_t>(BitsOf(shifted) - BitsOf(kMagic));
  const int32_t half = whole >> 1;
  const float first = FloatOf(static_cast<uint32_t>(half + 127) << 23);
  const float second = FloatOf(static_cast<uint32_t>(whole - half + 127) << 23);
  return (mantissa * first) * second;
}

// silu(x) = x / (1 + exp(-x)). Error at most kSiluErrorUlp where exp(-x) is finite; -0 below -88.7.
inline float Silu(float x) { return x / (1.0f + Exp(0.0f - x)); }

// gelu(x), tanh form, as x * sigmoid(2u) with 2u = x * (2 sqrt(2/pi) + 2 sqrt(2/pi) 0.044715 x^2): the same function
// as 0.5 x (1 + tanh(u)) without its cancellation. Error bounds above: the cube in the exponent magnifies
// the rounding of its argument where x is far below 0 and the result near it.
inline constexpr float kGeluLinear = -0x1.988454p+0f;  // -2 sqrt(2/pi)
inline constexpr float kGeluCubic = -0x1.2444f2p-4f;   // -2 sqrt(2/pi) * 0.044715
inline float GeluTanh(float x) {
  const float minus_two_u = x * Fma(x * x, kGeluCubic, kGeluLinear);
  return x / (1.0f + Exp(minus_two_u));
}

// The upper tail of the normal distribution, erfc(a / sqrt 2) / 2, for a >= 0: exp(-a^2 / 2) times a polynomial in
// 1 / (1 + kStretch a); coefficients by tools/derive_normal_tail.py. What rounding takes from a^2 is put back, since the
// exponential would magnify it. 0.5 at 0, exactly 0 from kLimit on (and for NaN).
namespace normal_tail_constants {
inline constexpr float kStretch = 0.3125f;
inline constexpr float kLimit = 15.0f;  // exp(-a^2 / 2) is 0 from 14.42 on
// One name each: an array would be a symbol, and kernels share none.
inline constexpr float kC0 = 0x1.fea118p-4f;
inline constexpr float kC1 = 0x1.fefa68p-4f;
inline constexpr float kC2 = 0x1.ca44bp-4f;
inline constexpr float kC3 = 0x1.7108fep-4f;
inline constexpr float kC4 = 0x1.c6df96p-5f;
inline constexpr float kC5 = -0x1.4b402cp-9f;
inline constexpr float kC6 = 0x1.304e7ep-4f;
inline constexpr float kC7 = -0x1.357622p-3f;
inline constexpr float kC8 = 0x1.768f42p-4f;
inline constexpr float kC9 = -0x1.37c1d2p-6f;
}  // namespace normal_tail_constants
inline float NormalTail(float a) {
  namespace c = normal_tail_constants;
  const float clamped = c::kLimit > a ? a : c::kLimit;
  const float t = 1.0f / Fma(clamped, c::kStretch, 1.0f);
  float p = c::kC9;
  p = Fma(p, t, c::kC8);
  p = Fma(p, t, c::kC7);
  p = Fma(p, t, c::kC6);
  p = Fma(p, t, c::kC5);
  p = Fma(p, t, c::kC4);
  p = Fma(p, t, c::kC3);
  p = Fma(p, t, c::kC2);
  p = Fma(p, t, c::kC1);
  p = Fma(p, t, c::kC0);
  const float square = clamped * clamped;
  const float rest = Fma(clamped, clamped, 0.0f - square);
  const float power = Exp(-0.5f * square);
  return (t * p) * Fma(power, -0.5f * rest, power);
}

// gelu(x), the exact form, x times the normal distribution's lower tail: without the cancellation that 1 + erf has
// below 0. NaN and infinities stay not finite.
inline float GeluErf(float x) {
  const float tail = NormalTail(FloatOf(BitsOf(x) & 0x7fffffffu));
  return x > 0.0f ? Fma(0.0f - x, tail, x) : x * tail;
}

// Binary64 functions for tables and once-per-token values: + - * / only (no fma, so that every machine has them in
// hardware). Errors at most kError64Units and kSinCosErrorUnits: far under half a binary32 ulp. Arguments out of range
// give meaningless numbers, never undefined behaviour.
double Log64(double x);                                 // x > 0, finite, normal
double Exp64(double x);                                 // |x| <= 700
void SinCos64(double x, double* sine, double* cosine);  // |x| <= 2^20
float Sqrt(float x);                                    // IEEE square root

}  // namespace samebit::arith
