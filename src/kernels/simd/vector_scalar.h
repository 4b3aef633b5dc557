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

// Four vectors of the baseline's width: a wider one is taken apart by the compiler, element by element at comparisons.
typedef float Quad __attribute__((vector_size(16)));
typedef int32_t IntQuad __attribute__((vector_size(16)));
typedef uint32_t WordQuad __attribute__((vector_size(16)));  // sums modulo 2^32
struct Floats {
  Quad v[4];
};
struct Ints {
  IntQuad v[4];
};

// Rows of activations that one pass over a panel serves at most, and the tile of float weights.
inline constexpr uint32_t kQuantizedRowsMax = 4, kTwoGroupRowsMax = 4, kPrefetchRowsMin = 5;
inline constexpr uint32_t kFloatRowsMax = 2, kFloatPanelsAtOnce = 1, kFloatPanelsForFewRows = 1;
inline constexpr uint32_t kQueriesAtOnce = 2, kKeyPanelsAtOnce = 1;

template <class Function>
SAMEBIT_INLINE Floats EachFloat(Function f) {
  return {{f(0), f(1), f(2), f(3)}};
}
template <class Function>
SAMEBIT_INLINE Ints EachInt(Function f) {
  return {{f(0), f(1), f(2), f(3)}};
}

SAMEBIT_INLINE Floats Splat(float x) {
  return EachFloat([&](int) { return Quad{x, x, x, x}; });
}
SAMEBIT_INLINE Ints SplatInt(int32_t x) {
  return EachInt([&](int) { return IntQuad{x, x, x, x}; });
}
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

SAMEBIT_INLINE Ints Bits(Floats a) {
  return EachInt([&](int i) { return (IntQuad)a.v[i]; });
}
SAMEBIT_INLINE Floats FromBits(Ints a) {
  return EachFloat([&](int i) { return (Quad)a.v[i]; });
}

SAMEBIT_INLINE Floats Add(Floats a, Floats b) {
  return EachFloat([&](int i) { return a.v[i] + b.v[i]; });
}
SAMEBIT_INLINE Floats Sub(Floats a, Floats b) {
  return EachFloat([&](int i) { return a.v[i] - b.v[i]; });
}
SAMEBIT_INLINE Floats Mul(Floats a, Floats b) {
  return EachFloat([&](int i) { return a.v[i] * b.v[i]; });
}
SAMEBIT_INLINE Floats Div(Floats a, Floats b) {
  return EachFloat([&](int i) { return a.v[i] / b.v[i]; });
}

#if defined(__FMA__) || defined(__aarch64__)
SAMEBIT_INLINE Quad FmaQuad(Quad a, Quad b, Quad c) {
  return Quad{__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]), __builtin_fmaf(a[2], b[2], c[2]),
              __builtin_fmaf(a[3], b[3], c[3])};
}
#else
typedef double Doubles __attribute__((vector_size(16)));
typedef uint64_t Words __attribute__((vector_size(16)));

// The product is exact; the sum is rounded to odd, so that only the last rounding shows (arith/environment.h).
SAMEBIT_INLINE Doubles OddSum(Doubles product, Doubles addend) {
  const Doubles sum = product + addend;
  const Doubles addend_part = sum - product;
  const Doubles error = (product - (sum - addend_part)) + (addend - addend_part);
  // NaN (of an infinite sum) compares false and changes nothing.
  const Words inexact = (Words)((Doubles)((Words)error & 0x7fffffffffffffffull) > 0.0) & 1;
  const Words toward_zero = (((Words)error ^ (Words)sum) >> 63) & inexact;
  return (Doubles)(((Words)sum - toward_zero) | inexact);
}
// Whole vectors are converted, never element by element: g++ 12 takes Doubles{a[0], a[1]} of a vector that was made
// from rounded doubles for those doubles, and a rounding is lost (conformance_test caught it in two chained Fma).
typedef float Pair __attribute__((vector_size(8)));
SAMEBIT_INLINE Doubles LowDoubles(Quad a) {
  return __builtin_convertvector(__builtin_shufflevector(a, a, 0, 1), Doubles);
}
SAMEBIT_INLINE Doubles HighDoubles(Quad a) {
  return __builtin_convertvector(__builtin_shufflevector(a, a, 2, 3), Doubles);
}
SAMEBIT_INLINE Quad FmaQuad(Quad a, Quad b, Quad c) {
  const Pair low = __builtin_convertvector(OddSum(LowDoubles(a) * LowDoubles(b), LowDoubles(c)), Pair);
  const Pair high = __builtin_convertvector(OddSum(HighDoubles(a) * HighDoubles(b), HighDoubles(c)), Pair);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3);
}
#endif
// fma(a, b, c), one rounding.
SAMEBIT_INLINE Floats Fma(Floats a, Floats b, Floats c) {
  return EachFloat([&](int i) { return FmaQuad(a.v[i], b.v[i], c.v[i]); });
}
// fma(a, b, -c)
SAMEBIT_INLINE Floats FmaMinus(Floats a, Floats b, Floats c) {
  return EachFloat([&](int i) { return FmaQuad(a.v[i], b.v[i], -c.v[i]); });
}

SAMEBIT_INLINE Floats IfGreater(Floats a, Floats b, Floats yes, Floats no) {
  return EachFloat([&](int i) {
    const IntQuad mask = a.v[i] > b.v[i];
    return (Quad)((mask & (IntQuad)yes.v[i]) | (~mask & (IntQuad)no.v[i]));
  });
}
SAMEBIT_INLINE Floats Max(Floats a, Floats b) { return IfGreater(a, b, a, b); }    // a > b ? a : b
SAMEBIT_INLINE Floats MinOf(Floats a, Floats b) { return IfGreater(b, a, a, b); }  // a < b ? a : b
SAMEBIT_INLINE bool AnyEqual(Floats a, Floats b) {
  IntQuad any = a.v[0] == b.v[0];
  for (int i = 1; i < 4; ++i) any |= a.v[i] == b.v[i];
  return (any[0] | any[1] | any[2] | any[3]) != 0;
}

SAMEBIT_INLINE Ints AddInt(Ints a, Ints b) {
  return EachInt([&](int i) { return (IntQuad)((WordQuad)a.v[i] + (WordQuad)b.v[i]); });
}
SAMEBIT_INLINE Ints SubInt(Ints a, Ints b) {
  return EachInt([&](int i) { return (IntQuad)((WordQuad)a.v[i] - (WordQuad)b.v[i]); });
}
SAMEBIT_INLINE Ints And(Ints a, Ints b) {
  return EachInt([&](int i) { return a.v[i] & b.v[i]; });
}
SAMEBIT_INLINE Ints MaxInt(Ints a, Ints b) {
  return EachInt([&](int i) {
    const IntQuad mask = a.v[i] > b.v[i];
    return (mask & a.v[i]) | (~mask & b.v[i]);
  });
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftLeft(Ints a) {
  return EachInt([&](int i) { return (IntQuad)((WordQuad)a.v[i] << kBits); });
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftRight(Ints a) {
  return EachInt([&](int i) { return a.v[i] >> kBits; });
}  // arithmetic

SAMEBIT_INLINE Floats ToFloat(Ints a) {
  return EachFloat([&](int i) { return __builtin_convertvector(a.v[i], Quad); });
}
// For whole numbers only.
SAMEBIT_INLINE Ints ToInt(Floats a) {
  return EachInt([&](int i) { return __builtin_convertvector(a.v[i], IntQuad); });
}

// Exact widening of 16 stored numbers, and rounding to f16 (nearest even).
template <class Element>
SAMEBIT_INLINE Ints Widen(const Element* p) {
  return EachInt([&](int i) { return IntQuad{p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]}; });
}
SAMEBIT_INLINE Ints LoadU8(const uint8_t* p) { return Widen(p); }
SAMEBIT_INLINE Ints LoadI8(const int8_t* p) { return Widen(p); }
SAMEBIT_INLINE Floats LoadBrains(const uint16_t* p) { return FromBits(ShiftLeft<16>(Widen(p))); }
SAMEBIT_INLINE Floats LoadHalves(const uint16_t* p) {
  const Ints halves = Widen(p);
  return EachFloat([&](int i) {
    const IntQuad sign = (halves.v[i] & 0x8000) << 16;
    const IntQuad magnitude = halves.v[i] & 0x7fff;
    // Exponent and fraction move to their places; the bias is corrected by an exact product, which also normalises
    // subnormal halves. Infinity and NaN get the largest exponent instead.
    const Quad scaled = (Quad)(magnitude << 13) * 0x1p112f;
    const IntQuad special = magnitude >= 0x7c00;
    return (Quad)((special & ((magnitude << 13) | 0x7f800000)) | (~special & (IntQuad)scaled) | sign);
  });
}
SAMEBIT_INLINE void StoreHalves(uint16_t* p, Floats a) {
  for (int i = 0; i < 16; ++i) p[i] = arith::F32ToF16(a.v[i / 4][i % 4]);
}
SAMEBIT_INLINE void StoreI8(int8_t* p, Ints a) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(a.v[i / 4][i % 4]);
}
SAMEBIT_INLINE void StoreInts(int32_t* p, Ints v) { std::memcpy(p, &v, sizeof v); }

SAMEBIT_INLINE float FirstLane(Floats a) { return a.v[0][0]; }
SAMEBIT_INLINE float Fold(Floats a) {  // 8+8, 4+4, 2+2, 1+1
  const Quad t = (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]);
  const float even = t[0] + t[2], odd = t[1] + t[3];
  return even + odd;
}
SAMEBIT_INLINE float LargestLane(Floats a) {  // not for NaN; of zeros with two signs either
  float largest = a.v[0][0];
  for (int i = 1; i < 16; ++i) largest = a.v[i / 4][i % 4] > largest ? a.v[i / 4][i % 4] : largest;
  return largest;
}
SAMEBIT_INLINE int32_t SumLanes(Ints a) {
  const IntQuad t = a.v[0] + a.v[1] + a.v[2] + a.v[3];
  return t[0] + t[1] + t[2] + t[3];
}
SAMEBIT_INLINE int32_t LargestLane(Ints a) {
  int32_t largest = a.v[0][0];
  for (int i = 1; i < 16; ++i) largest = a.v[i / 4][i % 4] > largest ? a.v[i / 4][i % 4] : largest;
  return largest;
}

SAMEBIT_INLINE void Prefetch(const void* p) { __builtin_prefetch(p); }
SAMEBIT_INLINE void PrefetchFar(const void* p) { __builtin_prefetch(p, 0, 2); }

// isum[group][row] += sum over the group's inputs of code * x, for the 16 outputs of a payload and kRows rows x [32].
//
// In binary32: products and sums are whole numbers under 2^24, so every step is exact and the baseline's float units
// serve (x86-64 has no 32-bit integer product before SSE4.1).
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void DotPayload(const uint8_t* payload, const int8_t (*x)[layout::kBlockInputs],
                               Ints (&isum)[kStream.groups][kRows]) {
  for (uint32_t part = 0; part < 4; ++part, payload += 16) {  // four outputs at a time
    Quad sums[kStream.groups][kRows] = {};
    for (uint32_t g = 0; g < 8; ++g) {
      IntQuad quads, plane;
      std::memcpy(&quads, payload + (kStream.code_bits == 8 ? g : g % 4) * 64, sizeof quads);
      if (kStream.code_bits != 8) quads = (g < 4 ? quads : quads >> 4) & 0x0f0f0f0f;
      if (kStream.code_bits == 5) {
        std::memcpy(&plane, payload + layout::kNibbleBytes, sizeof plane);
        quads |= ((plane >> static_cast<int>(g)) & 0x01010101) << 4;
      }
      if (kStream.code_bits == 6) {
        std::memcpy(&plane, payload + layout::kNibbleBytes + g / 4 * layout::kPlaneBytes, sizeof plane);
        quads |= ((plane >> static_cast<int>(2 * (g % 4))) & 0x03030303) << 4;
      }
      for (uint32_t t = 0; t < 4; ++t) {
        const Quad code = __builtin_convertvector((quads >> static_cast<int>(8 * t)) & 0xff, Quad);
        for (uint32_t r = 0; r < kRows; ++r) {
          Quad& sum = sums[kStream.groups == 2 ? g / 4 : 0][r];
          sum = sum + code * static_cast<float>(x[r][4 * g + t]);
        }
      }
    }
    for (uint32_t group = 0; group < kStream.groups; ++group)
      for (uint32_t r = 0; r < kRows; ++r)
        isum[group][r].v[part] = isum[group][r].v[part] + __builtin_convertvector(sums[group][r], IntQuad);
  }
}

// sum + the products of the four unsigned bytes in `codes` and the four signed ones in `x`, per lane. How the roof of
// peak.h is measured; the scalar code multiplies in binary32, as DotPayload does.
SAMEBIT_INLINE Ints DotQuad(Ints sum, Ints codes, Ints x) {
  return EachInt([&](int i) {
    Quad products = {};
    for (int t = 0; t < 4; ++t)
      products = products + __builtin_convertvector((codes.v[i] >> (8 * t)) & 0xff, Quad) *
                                __builtin_convertvector((x.v[i] << (24 - 8 * t)) >> 24, Quad);
    return sum.v[i] + __builtin_convertvector(products, IntQuad);
  });
}

}  // namespace
}  // namespace samebit::kernels
