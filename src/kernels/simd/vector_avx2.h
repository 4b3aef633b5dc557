// 16 lanes as two AVX2 registers: lanes 0-7 in `low`, 8-15 in `high`. The meaning of each name is in vector_scalar.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/layout.h"
#include "kernels/simd/inline.h"

namespace samebit::kernels {
namespace {

struct Floats {
  __m256 low, high;
};
struct Ints {
  __m256i low, high;
};

// 16 registers.
inline constexpr uint32_t kQuantizedRowsMax = 4, kTwoGroupRowsMax = 4, kPrefetchRowsMin = 5;
inline constexpr uint32_t kFloatRowsMax = 6, kFloatPanelsAtOnce = 1, kFloatPanelsForFewRows = 2;
inline constexpr uint32_t kQueriesAtOnce = 3, kKeyPanelsAtOnce = 2;

SAMEBIT_INLINE Floats Splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
SAMEBIT_INLINE Ints SplatInt(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
SAMEBIT_INLINE Floats Load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
SAMEBIT_INLINE void Store(float* p, Floats v) {
  _mm256_storeu_ps(p, v.low);
  _mm256_storeu_ps(p + 8, v.high);
}
SAMEBIT_INLINE Ints FirstLanes(uint32_t count) {
  const __m256i counts = _mm256_set1_epi32(static_cast<int>(count));
  return {_mm256_cmpgt_epi32(counts, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
          _mm256_cmpgt_epi32(counts, _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15))};
}
SAMEBIT_INLINE Floats LoadPart(const float* p, uint32_t count, Floats rest) {
  const Ints mask = FirstLanes(count);
  return {_mm256_blendv_ps(rest.low, _mm256_maskload_ps(p, mask.low), _mm256_castsi256_ps(mask.low)),
          _mm256_blendv_ps(rest.high, _mm256_maskload_ps(p + 8, mask.high), _mm256_castsi256_ps(mask.high))};
}
SAMEBIT_INLINE void StorePart(float* p, uint32_t count, Floats v) {
  const Ints mask = FirstLanes(count);
  _mm256_maskstore_ps(p, mask.low, v.low);
  _mm256_maskstore_ps(p + 8, mask.high, v.high);
}

SAMEBIT_INLINE Ints Bits(Floats v) { return {_mm256_castps_si256(v.low), _mm256_castps_si256(v.high)}; }
SAMEBIT_INLINE Floats FromBits(Ints v) { return {_mm256_castsi256_ps(v.low), _mm256_castsi256_ps(v.high)}; }

SAMEBIT_INLINE Floats Add(Floats a, Floats b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
SAMEBIT_INLINE Floats Sub(Floats a, Floats b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
SAMEBIT_INLINE Floats Mul(Floats a, Floats b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
SAMEBIT_INLINE Floats Div(Floats a, Floats b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
SAMEBIT_INLINE Floats Fma(Floats a, Floats b, Floats c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
SAMEBIT_INLINE Floats FmaMinus(Floats a, Floats b, Floats c) {
  return {_mm256_fmsub_ps(a.low, b.low, c.low), _mm256_fmsub_ps(a.high, b.high, c.high)};
}
SAMEBIT_INLINE Floats Max(Floats a, Floats b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
SAMEBIT_INLINE Floats MinOf(Floats a, Floats b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
SAMEBIT_INLINE Floats IfGreater(Floats a, Floats b, Floats yes, Floats no) {
  return {_mm256_blendv_ps(no.low, yes.low, _mm256_cmp_ps(a.low, b.low, _CMP_GT_OQ)),
          _mm256_blendv_ps(no.high, yes.high, _mm256_cmp_ps(a.high, b.high, _CMP_GT_OQ))};
}
SAMEBIT_INLINE bool AnyEqual(Floats a, Floats b) {
  const __m256 any = _mm256_or_ps(_mm256_cmp_ps(a.low, b.low, _CMP_EQ_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_EQ_OQ));
  return _mm256_movemask_ps(any) != 0;
}

SAMEBIT_INLINE Ints AddInt(Ints a, Ints b) {
  return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}
SAMEBIT_INLINE Ints SubInt(Ints a, Ints b) {
  return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}
SAMEBIT_INLINE Ints And(Ints a, Ints b) { return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)}; }
SAMEBIT_INLINE Ints MaxInt(Ints a, Ints b) {
  return {_mm256_max_epi32(a.low, b.low), _mm256_max_epi32(a.high, b.high)};
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftLeft(Ints a) {
  return {_mm256_slli_epi32(a.low, kBits), _mm256_slli_epi32(a.high, kBits)};
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftRight(Ints a) {
  return {_mm256_srai_epi32(a.low, kBits), _mm256_srai_epi32(a.high, kBits)};
}

SAMEBIT_INLINE Floats ToFloat(Ints a) { return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }
SAMEBIT_INLINE Ints ToInt(Floats a) { return {_mm256_cvttps_epi32(a.low), _mm256_cvttps_epi32(a.high)}; }

SAMEBIT_INLINE __m128i LoadHalf(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
SAMEBIT_INLINE __m128i LoadQuarter(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }
SAMEBIT_INLINE Floats LoadHalves(const uint16_t* p) {
  return {_mm256_cvtph_ps(LoadHalf(p)), _mm256_cvtph_ps(LoadHalf(p + 8))};
}
SAMEBIT_INLINE Floats LoadBrains(const uint16_t* p) {
  return FromBits(ShiftLeft<16>({_mm256_cvtepu16_epi32(LoadHalf(p)), _mm256_cvtepu16_epi32(LoadHalf(p + 8))}));
}
SAMEBIT_INLINE void StoreHalves(uint16_t* p, Floats v) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v.low, kNearest));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(v.high, kNearest));
}
SAMEBIT_INLINE Ints LoadU8(const uint8_t* p) {
  return {_mm256_cvtepu8_epi32(LoadQuarter(p)), _mm256_cvtepu8_epi32(LoadQuarter(p + 8))};
}
SAMEBIT_INLINE Ints LoadI8(const int8_t* p) {
  return {_mm256_cvtepi8_epi32(LoadQuarter(p)), _mm256_cvtepi8_epi32(LoadQuarter(p + 8))};
}
SAMEBIT_INLINE void StoreI8(int8_t* p, Ints v) {  // the values are in range, so saturation does nothing
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(v.low, v.high), 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}
SAMEBIT_INLINE void StoreInts(int32_t* p, Ints v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v.low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), v.high);
}

SAMEBIT_INLINE float FirstLane(Floats v) { return _mm256_cvtss_f32(v.low); }
SAMEBIT_INLINE float Fold(Floats v) {
  const __m256 t = _mm256_add_ps(v.low, v.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
SAMEBIT_INLINE float LargestLane(Floats v) {
  const __m256 t = _mm256_max_ps(v.low, v.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
SAMEBIT_INLINE int32_t SumLanes(Ints v) {
  const __m256i t = _mm256_add_epi32(v.low, v.high);
  const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}
SAMEBIT_INLINE int32_t LargestLane(Ints v) {
  const __m256i t = _mm256_max_epi32(v.low, v.high);
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

SAMEBIT_INLINE void Prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
SAMEBIT_INLINE void PrefetchFar(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

SAMEBIT_INLINE __m256i LoadBytes(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// The eight quads of 8 outputs of a payload, unsigned codes; `payload` is moved by 32 bytes for outputs 8-15.
template <uint32_t kCodeBits>
SAMEBIT_INLINE void UnpackQuads(const uint8_t* payload, __m256i (&quads)[8]) {
  if constexpr (kCodeBits == 8) {
    for (int g = 0; g < 8; ++g) quads[g] = LoadBytes(payload + 64 * g);
    return;
  }
  const __m256i nibble = _mm256_set1_epi8(15);
  for (int g = 0; g < 4; ++g) {
    const __m256i both = LoadBytes(payload + 64 * g);
    quads[g] = _mm256_and_si256(both, nibble);
    quads[g + 4] = _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble);
  }
  if constexpr (kCodeBits == 5) {
    const __m256i plane = LoadBytes(payload + layout::kNibbleBytes);
    const __m256i fifth = _mm256_set1_epi8(0x10);
    for (int g = 0; g < 8; ++g) {
      const __m256i moved = g <= 4 ? _mm256_slli_epi16(plane, 4 - g) : _mm256_srli_epi16(plane, g - 4);
      quads[g] = _mm256_or_si256(quads[g], _mm256_and_si256(moved, fifth));
    }
  }
  if constexpr (kCodeBits == 6) {
    const __m256i top = _mm256_set1_epi8(0x30);
    for (int g = 0; g < 8; ++g) {
      const __m256i plane = LoadBytes(payload + layout::kNibbleBytes + g / 4 * layout::kPlaneBytes);
      const int from = 2 * (g % 4);
      const __m256i moved = from <= 4 ? _mm256_slli_epi16(plane, 4 - from) : _mm256_srli_epi16(plane, from - 4);
      quads[g] = _mm256_or_si256(quads[g], _mm256_and_si256(moved, top));
    }
  }
}

SAMEBIT_INLINE __m256i SplatQuad(const int8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm256_set1_epi32(quad);
}

SAMEBIT_INLINE Ints DotQuad(Ints sum, Ints codes, Ints x) {
  const __m256i ones = _mm256_set1_epi16(1);
  return {_mm256_add_epi32(sum.low, _mm256_madd_epi16(_mm256_maddubs_epi16(codes.low, x.low), ones)),
          _mm256_add_epi32(sum.high, _mm256_madd_epi16(_mm256_maddubs_epi16(codes.high, x.high), ones))};
}

}  // namespace
}  // namespace samebit::kernels
