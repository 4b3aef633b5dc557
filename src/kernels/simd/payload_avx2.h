// One payload of 32 inputs, 16 outputs, kRows rows, with AVX2's 16 registers: 8 outputs at a time, whose 8 quads stay
// in registers while the rows pass.
#pragma once

#include "kernels/simd/activation_block.h"
#include "kernels/simd/vector_avx2.h"

namespace samebit::kernels {
namespace {

// isum of one row, 4 to 6 bits, 8 outputs.
//
// vpmaddubsw adds two u8 x s8 products in int16, saturating. |x| <= 127, so a sum of n such pairs is at most
//     4 bits: n * 2 *  15 * 127 = n *  3810, under 32768 for n = 8
//     5 bits: n * 2 *  31 * 127 = n *  7874,                 n = 4
//     6 bits: n * 2 *  63 * 127 = n * 16002,                 n = 2
// and after n pairs vpmaddwd by ones widens to int32. Exact.
template <layout::Stream kStream>
SAMEBIT_INLINE void DotRow(const __m256i (&quads)[8], const int8_t* x, const int32_t* corrections,
                           uint32_t correction_stride, __m256i (&isum)[kStream.groups]) {
  constexpr uint32_t kPairs = kStream.code_bits == 4 ? 8 : kStream.code_bits == 5 ? 4 : 2;
  const __m256i ones = _mm256_set1_epi16(1);
  for (uint32_t group = 0; group < kStream.groups; ++group)
    isum[group] =
        kStream.code_offset == 0 ? _mm256_setzero_si256() : _mm256_set1_epi32(corrections[group * correction_stride]);
  for (uint32_t first = 0; first < 8; first += kPairs) {
    __m256i pairs = _mm256_maddubs_epi16(quads[first], SplatQuad(x + 4 * first));
    for (uint32_t g = first + 1; g < first + kPairs; ++g)
      pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(quads[g], SplatQuad(x + 4 * g)));
    __m256i& sum = isum[kStream.groups == 2 ? first / 4 : 0];
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
  }
}

// isum of all rows, 8 bits, 8 outputs. The signed weight is w = code - 128; |w| <= 128 as the unsigned factor and x
// with the sign of w as the signed one give at most 2 * 128 * 127 = 32512 in int16. x is never -128, so its negation
// exists.
template <uint32_t kRows>
SAMEBIT_INLINE void DotBytes(const uint8_t* payload, const int8_t (*x)[layout::kBlockInputs], __m256i (&isum)[kRows]) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (uint32_t r = 0; r < kRows; ++r) isum[r] = _mm256_setzero_si256();
  for (uint32_t g = 0; g < 8; ++g) {
    const __m256i weight = _mm256_xor_si256(LoadBytes(payload + 64 * g), _mm256_set1_epi8(-128));
    const __m256i magnitude = _mm256_abs_epi8(weight);
    for (uint32_t r = 0; r < kRows; ++r) {
      const __m256i with_sign = _mm256_sign_epi8(SplatQuad(x[r] + 4 * g), weight);
      isum[r] = _mm256_add_epi32(isum[r], _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, with_sign), ones));
    }
  }
}

// Which half of the 16 lanes.
template <int kHalf>
SAMEBIT_INLINE __m256& HalfOf(Floats& v) {
  if constexpr (kHalf == 0) return v.low;
  return v.high;
}

template <layout::Stream kStream, uint32_t kRows, int kHalf>
SAMEBIT_INLINE void AddHalf(const uint8_t* payload, const ActivationBlock<kRows, kStream.groups>& x,
                            Floats (&scale)[kStream.groups], Floats& minimum, Floats (&acc)[kRows]) {
  payload += 32 * kHalf;
  __m256i bytes[kRows];
  __m256i quads[8];
  if constexpr (kStream.code_bits == 8) {
    DotBytes<kRows>(payload, x.codes, bytes);
  } else {
    UnpackQuads<kStream.code_bits>(payload, quads);
  }
  for (uint32_t r = 0; r < kRows; ++r) {
    __m256i isum[kStream.groups];
    if constexpr (kStream.code_bits == 8) {
      isum[0] = bytes[r];
    } else {
      DotRow<kStream>(quads, x.codes[r], &x.corrections[0][r], kRows, isum);
    }
    __m256& sum = HalfOf<kHalf>(acc[r]);
    const __m256 x_scale = _mm256_set1_ps(x.scales[r]);
    for (uint32_t group = 0; group < kStream.groups; ++group)
      sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(isum[group]), _mm256_mul_ps(HalfOf<kHalf>(scale[group]), x_scale), sum);
    if constexpr (kStream.has_minimum)
      sum = _mm256_fmadd_ps(HalfOf<kHalf>(minimum), _mm256_set1_ps(x.scaled_sums[r]), sum);
  }
}

// acc continues its chain over one payload. scale [groups], minimum: of the payload's 16 outputs.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void AddPayload(const uint8_t* payload, const ActivationBlock<kRows, kStream.groups>& x,
                               Floats (&scale)[kStream.groups], Floats minimum, Floats (&acc)[kRows]) {
  AddHalf<kStream, kRows, 0>(payload, x, scale, minimum, acc);
  // g++ would keep the broadcast activations of the first half for the second, on the stack: a load and a store each
  // instead of a load. Forgetting what memory holds makes it broadcast them again.
  asm volatile("" : : : "memory");
  AddHalf<kStream, kRows, 1>(payload, x, scale, minimum, acc);
}

}  // namespace
}  // namespace samebit::kernels
