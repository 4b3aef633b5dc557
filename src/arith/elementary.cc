#include "arith/elementary.h"

#include <bit>

namespace samebit::arith {

namespace {
// ln 2 in two parts: the high part has 32 significant bits, so that its product with an exponent is exact.
constexpr double kLn2High64 = 0x1.62e42fee00000p-1;
constexpr double kLn2Low64 = 0x1.a39ef35793c76p-33;
constexpr double kMagic64 = 0x1.8p52;  // adding it rounds to an integer, nearest even

// 1 / (k (k - 1)).
struct ReciprocalTable {
  double values[19] = {};
  constexpr ReciprocalTable() {
    for (int k = 2; k < 19; ++k) values[k] = 1.0 / (k * (k - 1.0));
  }
  constexpr double operator[](int k) const { return values[k]; }
};
constexpr ReciprocalTable kReciprocals;
}  // namespace

double Exp64(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + kMagic64;
  const double n = shifted - kMagic64;
  const double r = (x - n * kLn2High64) - n * kLn2Low64;
  // Taylor to r^13: the next term is under 2^-57 for |r| <= ln2/2.
  double factorial_reciprocal[14];
  factorial_reciprocal[0] = 1.0;
  for (int i = 1; i < 14; ++i) factorial_reciprocal[i] = factorial_reciprocal[i - 1] / i;
  double p = factorial_reciprocal[13];
  for (int i = 12; i >= 0; --i) p = p * r + factorial_reciprocal[i];
  // n from the bits, not by a conversion, which is undefined for the out-of-range n of a wild argument.
  const uint64_t power = (1023 + (std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kMagic64))) << 52;
  return p * std::bit_cast<double>(power);
}

double Log64(double x) {
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m-1)/(m+1)).
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int64_t e = static_cast<int64_t>(bits - 0x3fe6a09e667f3bcdull) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(e) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0.0;
  for (int k = 25; k >= 3; k -= 2) p = p * z + 1.0 / k;
  const double twice = s + s;
  const double exponent = static_cast<double>(e);
  return exponent * kLn2High64 + (twice + (p * z * twice + exponent * kLn2Low64));
}

void SinCos64(double x, double* sine, double* cosine) {
  // pi/2 in three parts, the first two of 33 bits: n * part is exact for |n| < 2^20 (fdlibm's reduction).
  constexpr double kPart1 = 0x1.921fb54400000p+0, kPart2 = 0x1.0b4611a600000p-34, kPart3 = 0x1.3198a2e037073p-69;
  const double shifted = x * 0x1.45f306dc9c883p-1 + kMagic64;
  const double n = shifted - kMagic64;
  const double r = ((x - n * kPart1) - n * kPart2) - n * kPart3;
  const double z = r * r;
  // Taylor series nested as 1 - z/(k(k-1)) * (1 - ...): the first terms left out are under 2^-58 for |r| <= pi/4.
  double s = 1.0, c = 1.0;
  for (int k = 17; k >= 3; k -= 2) s = 1.0 - s * (z * kReciprocals[k]);
  for (int k = 18; k >= 2; k -= 2) c = 1.0 - c * (z * kReciprocals[k]);
  s = r * s;
  const int quarter = static_cast<int>(std::bit_cast<uint64_t>(shifted) & 3);  // n mod 4; see Exp64
  const double first = quarter & 1 ? c : s;
  const double second = quarter & 1 ? s : c;
  *sine = quarter & 2 ? -first : first;
  *cosine = quarter == 1 || quarter == 2 ? -second : second;
}

float Sqrt(float x) { return __builtin_sqrtf(x); }

}  // namespace samebit::arith
