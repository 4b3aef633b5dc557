// 16 lanes in plain C++ (vector extensions that the compiler lowers to the target's baseline). The reference for what
// each operation of a vector_*.h means; the other instruction sets define the same names.
//
//   Floats  16 binary32 lanes        Ints  16 int32 lanes
//
// On a baseline without fma (x86-64) Fma is arith's SoftFma, lane by lane the same operations, without its branch.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/layout.h"
#include "kernels/simd/inline.h"

namespace samebit::kernels {
namespace {

typedef float Floats __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));

// Rows of activations that one pass over a panel serves at most, and the tile of float weights.
inline constexpr uint32_t kQuantizedRowsMax = 4, kTwoGroupRowsMax = 4;
inline constexpr uint32_t kFloatRowsMax = 2, kFloatPanelsAtOnce = 1, kFloatPanelsForFewRows = 1;
inline constexpr uint32_t kQueriesAtOnce = 2, kKeyPanelsAtOnce = 1;

SAMEBIT_INLINE Floats Splat(float x) { return Floats{} + x; }
SAMEBIT_INLINE Ints SplatInt(int32_t x) { return Ints{} + x; }
SAMEBIT_INLINE Floats Load(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
SAMEBIT_INLINE void Store(float* p, Floats v) { std::memcpy(p, &v, sizeof v); }
// The first `count` lanes from memory, the others from `rest`.
SAMEBIT_INLINE Floats LoadPart(const float* p, uint32_t count, Floats rest) {
  std::memcpy(&rest, p, count * sizeof(float));
  return rest;
}
SAMEBIT_INLINE void StorePart(float* p, uint32_t count, Floats v) { std::memcpy(p, &v, count * sizeof(float)); }

SAMEBIT_INLINE Ints Bits(Floats v) { return (Ints)v; }
SAMEBIT_INLINE Floats FromBits(Ints v) { return (Floats)v; }

SAMEBIT_INLINE Floats Add(Floats a, Floats b) { return a + b; }
SAMEBIT_INLINE Floats Sub(Floats a, Floats b) { return a - b; }
SAMEBIT_INLINE Floats Mul(Floats a, Floats b) { return a * b; }
SAMEBIT_INLINE Floats Div(Floats a, Floats b) { return a / b; }

// fma(a, b, c), one rounding.
SAMEBIT_INLINE Floats Fma(Floats a, Floats b, Floats c) {
#if defined(__FMA__) || defined(__aarch64__)
  Floats r;
  for (int i = 0; i < 16; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  typedef float Floats4 __attribute__((vector_size(16)));
  typedef double Doubles __attribute__((vector_size(32)));
  typedef uint64_t Words __attribute__((vector_size(32)));
  Floats result;
  for (int part = 0; part < 4; ++part) {
    Floats4 a4, b4, c4;
    std::memcpy(&a4, reinterpret_cast<const char*>(&a) + 16 * part, 16);
    std::memcpy(&b4, reinterpret_cast<const char*>(&b) + 16 * part, 16);
    std::memcpy(&c4, reinterpret_cast<const char*>(&c) + 16 * part, 16);
    // The product is exact; the sum is rounded to odd, so that only the last rounding shows (arith/environment.h).
    const Doubles product = __builtin_convertvector(a4, Doubles) * __builtin_convertvector(b4, Doubles);
    const Doubles addend = __builtin_convertvector(c4, Doubles);
    const Doubles sum = product + addend;
    const Doubles addend_part = sum - product;
    const Doubles error = (product - (sum - addend_part)) + (addend - addend_part);
    // NaN (of an infinite sum) compares false both ways and changes nothing.
    const Words inexact = (Words)((error < 0.0) | (error > 0.0)) & 1;
    const Words toward_zero = (((Words)error ^ (Words)sum) >> 63) & inexact;
    const Words odd = ((Words)sum - toward_zero) | inexact;
    const Floats4 rounded = __builtin_convertvector((Doubles)odd, Floats4);
    std::memcpy(reinterpret_cast<char*>(&result) + 16 * part, &rounded, 16);
  }
  return result;
#endif
}
SAMEBIT_INLINE Floats FmaMinus(Floats a, Floats b, Floats c) { return Fma(a, b, -c); }  // fma(a, b, -c)

SAMEBIT_INLINE Floats IfGreater(Floats a, Floats b, Floats yes, Floats no) {
  const Ints mask = a > b;
  return (Floats)((mask & (Ints)yes) | (~mask & (Ints)no));
}
SAMEBIT_INLINE Floats Max(Floats a, Floats b) { return IfGreater(a, b, a, b); }        // a > b ? a : b
SAMEBIT_INLINE Floats MinOf(Floats a, Floats b) { return IfGreater(b, a, a, b); }      // a < b ? a : b
SAMEBIT_INLINE bool AnyEqual(Floats a, Floats b) {
  const Ints mask = a == b;
  int32_t any = 0;
  for (int i = 0; i < 16; ++i) any |= mask[i];
  return any != 0;
}

SAMEBIT_INLINE Ints AddInt(Ints a, Ints b) { return a + b; }
SAMEBIT_INLINE Ints SubInt(Ints a, Ints b) { return a - b; }
SAMEBIT_INLINE Ints And(Ints a, Ints b) { return a & b; }
SAMEBIT_INLINE Ints MaxInt(Ints a, Ints b) {
  const Ints mask = a > b;
  return (mask & a) | (~mask & b);
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftLeft(Ints a) { return a << kBits; }
template <int kBits>
SAMEBIT_INLINE Ints ShiftRight(Ints a) { return a >> kBits; }  // arithmetic

SAMEBIT_INLINE Floats ToFloat(Ints a) { return __builtin_convertvector(a, Floats); }
SAMEBIT_INLINE Ints ToInt(Floats a) { return __builtin_convertvector(a, Ints); }  // for whole numbers only

// Exact widening of 16 stored numbers, and rounding to f16 (nearest even).
SAMEBIT_INLINE Floats LoadHalves(const uint16_t* p) {
  Ints half;
  for (int i = 0; i < 16; ++i) half[i] = p[i];
  const Ints sign = (half & 0x8000) << 16;
  const Ints magnitude = half & 0x7fff;
  // Exponent and fraction move to their places; the bias is corrected by an exact product, which also normalises
  // subnormal halves. Infinity and NaN get the largest exponent instead.
  const Floats scaled = (Floats)(magnitude << 13) * 0x1p112f;
  const Ints special = magnitude >= 0x7c00;
  const Ints bits = (special & ((magnitude << 13) | 0x7f800000)) | (~special & (Ints)scaled);
  return (Floats)(bits | sign);
}
SAMEBIT_INLINE Floats LoadBrains(const uint16_t* p) {
  Ints bits;
  for (int i = 0; i < 16; ++i) bits[i] = static_cast<int32_t>(uint32_t{p[i]} << 16);
  return (Floats)bits;
}
SAMEBIT_INLINE void StoreHalves(uint16_t* p, Floats v) {
  for (int i = 0; i < 16; ++i) p[i] = arith::F32ToF16(v[i]);
}
SAMEBIT_INLINE Ints LoadU8(const uint8_t* p) {
  Ints v;
  for (int i = 0; i < 16; ++i) v[i] = p[i];
  return v;
}
SAMEBIT_INLINE Ints LoadI8(const int8_t* p) {
  Ints v;
  for (int i = 0; i < 16; ++i) v[i] = p[i];
  return v;
}
SAMEBIT_INLINE void StoreI8(int8_t* p, Ints v) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(v[i]);
}
SAMEBIT_INLINE void StoreInts(int32_t* p, Ints v) { std::memcpy(p, &v, sizeof v); }

SAMEBIT_INLINE float FirstLane(Floats v) { return v[0]; }
SAMEBIT_INLINE float Fold(Floats v) {  // 8+8, 4+4, 2+2, 1+1
  float t[8];
  for (int i = 0; i < 8; ++i) t[i] = v[i] + v[i + 8];
  for (int width = 4; width >= 1; width /= 2)
    for (int i = 0; i < width; ++i) t[i] = t[i] + t[i + width];
  return t[0];
}
SAMEBIT_INLINE float LargestLane(Floats v) {  // not for NaN; of zeros with two signs either
  float largest = v[0];
  for (int i = 1; i < 16; ++i) largest = v[i] > largest ? v[i] : largest;
  return largest;
}
SAMEBIT_INLINE int32_t SumLanes(Ints v) {
  int32_t sum = 0;
  for (int i = 0; i < 16; ++i) sum += v[i];
  return sum;
}
SAMEBIT_INLINE int32_t LargestLane(Ints v) {
  int32_t largest = v[0];
  for (int i = 1; i < 16; ++i) largest = v[i] > largest ? v[i] : largest;
  return largest;
}

SAMEBIT_INLINE void Prefetch(const void* p) { __builtin_prefetch(p); }

// isum[group][row] += sum over the group's inputs of code * x, for the 16 outputs of a payload and kRows rows x [32].
//
// In binary32: products and sums are whole numbers under 2^24, so every step is exact and the baseline's float units
// serve (x86-64 has no 32-bit integer product before SSE4.1).
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void DotPayload(const uint8_t* payload, const int8_t (*x)[layout::kBlockInputs], Ints (&isum)[kStream.groups][kRows]) {
  Floats sums[kStream.groups][kRows] = {};
  for (uint32_t g = 0; g < 8; ++g) {
    Ints quad, plane = {};
    std::memcpy(&quad, payload + (kStream.code_bits == 8 ? g : g % 4) * 64, 64);
    if (kStream.code_bits != 8) quad = (g < 4 ? quad : quad >> 4) & 0x0f0f0f0f;
    if (kStream.code_bits == 5) {
      std::memcpy(&plane, payload + layout::kNibbleBytes, 64);
      quad |= ((plane >> static_cast<int>(g)) & 0x01010101) << 4;
    }
    if (kStream.code_bits == 6) {
      std::memcpy(&plane, payload + layout::kNibbleBytes + g / 4 * layout::kPlaneBytes, 64);
      quad |= ((plane >> static_cast<int>(2 * (g % 4))) & 0x03030303) << 4;
    }
    for (uint32_t t = 0; t < 4; ++t) {
      const Floats code = ToFloat((quad >> static_cast<int>(8 * t)) & 0xff);
      for (uint32_t r = 0; r < kRows; ++r) {
        Floats& sum = sums[kStream.groups == 2 ? g / 4 : 0][r];
        sum = sum + code * static_cast<float>(x[r][4 * g + t]);
      }
    }
  }
  for (uint32_t group = 0; group < kStream.groups; ++group)
    for (uint32_t r = 0; r < kRows; ++r) isum[group][r] = isum[group][r] + ToInt(sums[group][r]);
}

}  // namespace
}  // namespace samebit::kernels
