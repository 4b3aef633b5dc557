// 16 lanes as one AVX-512 register. With SAMEBIT_VNNI the byte dot product is vpdpbusd, without it vpmaddubsw.
// The meaning of each name is in vector_scalar.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/layout.h"
#include "kernels/simd/inline.h"

namespace samebit::kernels {
namespace {

using Floats = __m512;
using Ints = __m512i;

// 32 registers. Quantized: 8 hold a payload, the others sums. Float: 12 x 2 sums. More would spill.
inline constexpr uint32_t kQuantizedRowsMax = 8, kTwoGroupRowsMax = 6, kPrefetchRowsMin = 5;
inline constexpr uint32_t kFloatRowsMax = 12, kFloatPanelsAtOnce = 2, kFloatPanelsForFewRows = 4;
inline constexpr uint32_t kQueriesAtOnce = 4, kKeyPanelsAtOnce = 4;

SAMEBIT_INLINE Floats Splat(float x) { return _mm512_set1_ps(x); }
SAMEBIT_INLINE Ints SplatInt(int32_t x) { return _mm512_set1_epi32(x); }
SAMEBIT_INLINE Floats Load(const float* p) { return _mm512_loadu_ps(p); }
SAMEBIT_INLINE void Store(float* p, Floats v) { _mm512_storeu_ps(p, v); }
SAMEBIT_INLINE __mmask16 FirstLanes(uint32_t count) { return static_cast<__mmask16>((1u << count) - 1); }
SAMEBIT_INLINE Floats LoadPart(const float* p, uint32_t count, Floats rest) {
  return _mm512_mask_loadu_ps(rest, FirstLanes(count), p);
}
SAMEBIT_INLINE void StorePart(float* p, uint32_t count, Floats v) { _mm512_mask_storeu_ps(p, FirstLanes(count), v); }

SAMEBIT_INLINE Ints Bits(Floats v) { return _mm512_castps_si512(v); }
SAMEBIT_INLINE Floats FromBits(Ints v) { return _mm512_castsi512_ps(v); }

SAMEBIT_INLINE Floats Add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
SAMEBIT_INLINE Floats Sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
SAMEBIT_INLINE Floats Mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
SAMEBIT_INLINE Floats Div(Floats a, Floats b) { return _mm512_div_ps(a, b); }
SAMEBIT_INLINE Floats Fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
SAMEBIT_INLINE Floats FmaMinus(Floats a, Floats b, Floats c) { return _mm512_fmsub_ps(a, b, c); }
SAMEBIT_INLINE Floats Max(Floats a, Floats b) { return _mm512_max_ps(a, b); }  // a > b ? a : b, also for NaN and zeros
SAMEBIT_INLINE Floats MinOf(Floats a, Floats b) { return _mm512_min_ps(a, b); }  // a < b ? a : b
SAMEBIT_INLINE Floats IfGreater(Floats a, Floats b, Floats yes, Floats no) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), no, yes);
}
SAMEBIT_INLINE bool AnyEqual(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ) != 0; }

SAMEBIT_INLINE Ints AddInt(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
SAMEBIT_INLINE Ints SubInt(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
SAMEBIT_INLINE Ints And(Ints a, Ints b) { return _mm512_and_si512(a, b); }
SAMEBIT_INLINE Ints MaxInt(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
template <int kBits>
SAMEBIT_INLINE Ints ShiftLeft(Ints a) {
  return _mm512_slli_epi32(a, kBits);
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftRight(Ints a) {
  return _mm512_srai_epi32(a, kBits);
}

SAMEBIT_INLINE Floats ToFloat(Ints a) { return _mm512_cvtepi32_ps(a); }
SAMEBIT_INLINE Ints ToInt(Floats a) { return _mm512_cvttps_epi32(a); }

SAMEBIT_INLINE Floats LoadHalves(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
SAMEBIT_INLINE Floats LoadBrains(const uint16_t* p) {
  return FromBits(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
}
SAMEBIT_INLINE void StoreHalves(uint16_t* p, Floats v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
SAMEBIT_INLINE Ints LoadU8(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
SAMEBIT_INLINE Ints LoadI8(const int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
SAMEBIT_INLINE void StoreI8(int8_t* p, Ints v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
}
SAMEBIT_INLINE void StoreInts(int32_t* p, Ints v) { _mm512_storeu_si512(p, v); }

SAMEBIT_INLINE float FirstLane(Floats v) { return _mm512_cvtss_f32(v); }
SAMEBIT_INLINE float Fold(Floats v) {
  const __m256 t = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
SAMEBIT_INLINE float LargestLane(Floats v) { return _mm512_reduce_max_ps(v); }
SAMEBIT_INLINE int32_t SumLanes(Ints v) { return _mm512_reduce_add_epi32(v); }
SAMEBIT_INLINE int32_t LargestLane(Ints v) { return _mm512_reduce_max_epi32(v); }

SAMEBIT_INLINE void Prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
SAMEBIT_INLINE void PrefetchFar(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

// The eight quads of a payload, unsigned codes.
template <uint32_t kCodeBits>
SAMEBIT_INLINE void UnpackQuads(const uint8_t* payload, __m512i (&quads)[8]) {
  if constexpr (kCodeBits == 8) {
    for (int g = 0; g < 8; ++g) quads[g] = _mm512_loadu_si512(payload + 64 * g);
    return;
  }
  const __m512i nibble = _mm512_set1_epi8(15);
  for (int g = 0; g < 4; ++g) {
    const __m512i both = _mm512_loadu_si512(payload + 64 * g);
    quads[g] = _mm512_and_si512(both, nibble);
    quads[g + 4] = _mm512_and_si512(_mm512_srli_epi16(both, 4), nibble);
  }
  constexpr int kOrAnd = 0xf8;  // a | (b & c)
  if constexpr (kCodeBits == 5) {
    const __m512i plane = _mm512_loadu_si512(payload + layout::kNibbleBytes);
    const __m512i fifth = _mm512_set1_epi8(0x10);
    for (int g = 0; g < 8; ++g) {
      const __m512i moved = g <= 4 ? _mm512_slli_epi16(plane, 4 - g) : _mm512_srli_epi16(plane, g - 4);
      quads[g] = _mm512_ternarylogic_epi32(quads[g], moved, fifth, kOrAnd);
    }
  }
  if constexpr (kCodeBits == 6) {
    const __m512i top = _mm512_set1_epi8(0x30);
    for (int g = 0; g < 8; ++g) {
      const __m512i plane = _mm512_loadu_si512(payload + layout::kNibbleBytes + g / 4 * layout::kPlaneBytes);
      const int from = 2 * (g % 4);
      const __m512i moved = from <= 4 ? _mm512_slli_epi16(plane, 4 - from) : _mm512_srli_epi16(plane, from - 4);
      quads[g] = _mm512_ternarylogic_epi32(quads[g], moved, top, kOrAnd);
    }
  }
}

SAMEBIT_INLINE __m512i SplatQuad(const int8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm512_set1_epi32(quad);
}

#if defined(SAMEBIT_VNNI)

SAMEBIT_INLINE Ints DotQuad(Ints sum, Ints codes, Ints x) { return _mm512_dpbusd_epi32(sum, codes, x); }

// u8 x s8 products summed in int32, never the saturating form: exact.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void DotPayload(const uint8_t* payload, const int8_t (*x)[layout::kBlockInputs],
                               Ints (&isum)[kStream.groups][kRows]) {
  __m512i quads[8];
  UnpackQuads<kStream.code_bits>(payload, quads);
  for (uint32_t g = 0; g < 8; ++g) {
    for (uint32_t r = 0; r < kRows; ++r) {
      Ints& sum = isum[kStream.groups == 2 ? g / 4 : 0][r];
      sum = _mm512_dpbusd_epi32(sum, quads[g], SplatQuad(x[r] + 4 * g));
    }
  }
}

#else

SAMEBIT_INLINE Ints DotQuad(Ints sum, Ints codes, Ints x) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(codes, x), _mm512_set1_epi16(1)));
}

// vpmaddubsw adds two u8 x s8 products in int16, saturating. |x| <= 127, so a sum of n such pairs is at most
//     4 bits: n * 2 *  15 * 127 = n *  3810, under 32768 for n = 8
//     5 bits: n * 2 *  31 * 127 = n *  7874,                 n = 4
//     6 bits: n * 2 *  63 * 127 = n * 16002,                 n = 2
//     8 bits: the code's signed weight is w = code - 128; |w| <= 128 as the unsigned factor and x with the sign of w as
//             the signed one give at most 2 * 128 * 127 = 32512, n = 1
// and after n pairs vpmaddwd by ones widens to int32. Exact.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void DotPayload(const uint8_t* payload, const int8_t (*x)[layout::kBlockInputs],
                               Ints (&isum)[kStream.groups][kRows]) {
  constexpr uint32_t kPairs = kStream.code_bits == 4 ? 8 : kStream.code_bits == 5 ? 4 : 2;
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i quads[8];
  UnpackQuads<kStream.code_bits>(payload, quads);
  if constexpr (kStream.code_bits == 8) {
    // The signed weight needs no correction by the row's sum: take back what the caller put into isum.
    for (uint32_t r = 0; r < kRows; ++r) {
      __m512i sum = _mm512_setzero_si512();
      for (uint32_t g = 0; g < 8; ++g) {
        const __m512i weight = _mm512_xor_si512(quads[g], _mm512_set1_epi8(-128));
        const __m512i quad = SplatQuad(x[r] + 4 * g);
        const __m512i with_sign = _mm512_mask_sub_epi8(quad, _mm512_movepi8_mask(weight), _mm512_setzero_si512(), quad);
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_abs_epi8(weight), with_sign), ones));
      }
      isum[0][r] = sum;
    }
  } else {
    for (uint32_t r = 0; r < kRows; ++r) {
      for (uint32_t first = 0; first < 8; first += kPairs) {
        __m512i pairs = _mm512_maddubs_epi16(quads[first], SplatQuad(x[r] + 4 * first));
        for (uint32_t g = first + 1; g < first + kPairs; ++g)
          pairs = _mm512_add_epi16(pairs, _mm512_maddubs_epi16(quads[g], SplatQuad(x[r] + 4 * g)));
        Ints& sum = isum[kStream.groups == 2 ? first / 4 : 0][r];
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
      }
    }
  }
}

#endif

}  // namespace
}  // namespace samebit::kernels
