// 16 lanes as four NEON registers of aarch64's baseline. The meaning of each name is in vector_scalar.h.
#pragma once

#include <arm_neon.h>

#include <cstdint>

#include "kernels/layout.h"
#include "kernels/simd/inline.h"

namespace samebit::kernels {
namespace {

struct Floats {
  float32x4_t v[4];
};
struct Ints {
  int32x4_t v[4];
};

// 32 registers, of which a value takes four.
inline constexpr uint32_t kQuantizedRowsMax = 4, kTwoGroupRowsMax = 2, kPrefetchRowsMin = 5;
inline constexpr uint32_t kFloatRowsMax = 4, kFloatPanelsAtOnce = 1, kFloatPanelsForFewRows = 2;
inline constexpr uint32_t kQueriesAtOnce = 2, kKeyPanelsAtOnce = 2;

template <class Function>
SAMEBIT_INLINE Floats EachFloat(Function f) {
  return {{f(0), f(1), f(2), f(3)}};
}
template <class Function>
SAMEBIT_INLINE Ints EachInt(Function f) {
  return {{f(0), f(1), f(2), f(3)}};
}

SAMEBIT_INLINE Floats Splat(float x) {
  return EachFloat([&](int) { return vdupq_n_f32(x); });
}
SAMEBIT_INLINE Ints SplatInt(int32_t x) {
  return EachInt([&](int) { return vdupq_n_s32(x); });
}
SAMEBIT_INLINE Floats Load(const float* p) {
  return EachFloat([&](int i) { return vld1q_f32(p + 4 * i); });
}
SAMEBIT_INLINE void Store(float* p, const Floats& v) {
  for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, v.v[i]);
}
SAMEBIT_INLINE void StoreInts(int32_t* p, const Ints& v) {
  for (int i = 0; i < 4; ++i) vst1q_s32(p + 4 * i, v.v[i]);
}
SAMEBIT_INLINE Floats LoadPart(const float* p, uint32_t count, const Floats& rest) {
  float lanes[16];
  Store(lanes, rest);
  __builtin_memcpy(lanes, p, count * sizeof(float));
  return Load(lanes);
}
SAMEBIT_INLINE void StorePart(float* p, uint32_t count, const Floats& v) {
  float lanes[16];
  Store(lanes, v);
  __builtin_memcpy(p, lanes, count * sizeof(float));
}

SAMEBIT_INLINE Ints Bits(const Floats& v) {
  return EachInt([&](int i) { return vreinterpretq_s32_f32(v.v[i]); });
}
SAMEBIT_INLINE Floats FromBits(const Ints& v) {
  return EachFloat([&](int i) { return vreinterpretq_f32_s32(v.v[i]); });
}

SAMEBIT_INLINE Floats Add(const Floats& a, const Floats& b) {
  return EachFloat([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Floats Sub(const Floats& a, const Floats& b) {
  return EachFloat([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Floats Mul(const Floats& a, const Floats& b) {
  return EachFloat([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Floats Div(const Floats& a, const Floats& b) {
  return EachFloat([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Floats Fma(const Floats& a, const Floats& b, const Floats& c) {
  return EachFloat([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Floats FmaMinus(const Floats& a, const Floats& b, const Floats& c) {
  return EachFloat([&](int i) { return vfmaq_f32(vnegq_f32(c.v[i]), a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Floats IfGreater(const Floats& a, const Floats& b, const Floats& yes, const Floats& no) {
  return EachFloat([&](int i) { return vbslq_f32(vcgtq_f32(a.v[i], b.v[i]), yes.v[i], no.v[i]); });
}
// Not vmaxq_f32: it returns NaN where one operand is, and +0 for zeros of two signs.
SAMEBIT_INLINE Floats Max(const Floats& a, const Floats& b) { return IfGreater(a, b, a, b); }
SAMEBIT_INLINE Floats MinOf(const Floats& a, const Floats& b) { return IfGreater(b, a, a, b); }
SAMEBIT_INLINE bool AnyEqual(const Floats& a, const Floats& b) {
  uint32x4_t any = vceqq_f32(a.v[0], b.v[0]);
  for (int i = 1; i < 4; ++i) any = vorrq_u32(any, vceqq_f32(a.v[i], b.v[i]));
  return vmaxvq_u32(any) != 0;
}

SAMEBIT_INLINE Ints AddInt(const Ints& a, const Ints& b) {
  return EachInt([&](int i) { return vaddq_s32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Ints SubInt(const Ints& a, const Ints& b) {
  return EachInt([&](int i) { return vsubq_s32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Ints And(const Ints& a, const Ints& b) {
  return EachInt([&](int i) { return vandq_s32(a.v[i], b.v[i]); });
}
SAMEBIT_INLINE Ints MaxInt(const Ints& a, const Ints& b) {
  return EachInt([&](int i) { return vmaxq_s32(a.v[i], b.v[i]); });
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftLeft(const Ints& a) {
  return EachInt([&](int i) { return vshlq_n_s32(a.v[i], kBits); });
}
template <int kBits>
SAMEBIT_INLINE Ints ShiftRight(const Ints& a) {
  return EachInt([&](int i) { return vshrq_n_s32(a.v[i], kBits); });
}

SAMEBIT_INLINE Floats ToFloat(const Ints& a) {
  return EachFloat([&](int i) { return vcvtq_f32_s32(a.v[i]); });
}
SAMEBIT_INLINE Ints ToInt(const Floats& a) {
  return EachInt([&](int i) { return vcvtq_s32_f32(a.v[i]); });
}

SAMEBIT_INLINE Floats LoadHalves(const uint16_t* p) {
  return EachFloat([&](int i) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p + 4 * i))); });
}
SAMEBIT_INLINE Floats LoadBrains(const uint16_t* p) {
  return EachFloat([&](int i) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p + 4 * i), 16)); });
}
SAMEBIT_INLINE void StoreHalves(uint16_t* p, const Floats& v) {
  for (int i = 0; i < 4; ++i) vst1_u16(p + 4 * i, vreinterpret_u16_f16(vcvt_f16_f32(v.v[i])));
}
SAMEBIT_INLINE Ints LoadU8(const uint8_t* p) {
  const uint8x16_t bytes = vld1q_u8(p);
  const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_u8(vget_high_u8(bytes));
  return {{vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low))), vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(low))),
           vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high))),
           vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(high)))}};
}
SAMEBIT_INLINE Ints LoadI8(const int8_t* p) {
  const int8x16_t bytes = vld1q_s8(p);
  const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_s8(vget_high_s8(bytes));
  return {{vmovl_s16(vget_low_s16(low)), vmovl_s16(vget_high_s16(low)), vmovl_s16(vget_low_s16(high)),
           vmovl_s16(vget_high_s16(high))}};
}
SAMEBIT_INLINE void StoreI8(int8_t* p, const Ints& v) {
  const int16x8_t low = vcombine_s16(vmovn_s32(v.v[0]), vmovn_s32(v.v[1]));
  const int16x8_t high = vcombine_s16(vmovn_s32(v.v[2]), vmovn_s32(v.v[3]));
  vst1q_s8(p, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

SAMEBIT_INLINE float FirstLane(const Floats& v) { return vgetq_lane_f32(v.v[0], 0); }
SAMEBIT_INLINE float Fold(const Floats& v) {
  const float32x4_t four = vaddq_f32(vaddq_f32(v.v[0], v.v[2]), vaddq_f32(v.v[1], v.v[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
SAMEBIT_INLINE float LargestLane(const Floats& v) {
  return vmaxvq_f32(vmaxq_f32(vmaxq_f32(v.v[0], v.v[1]), vmaxq_f32(v.v[2], v.v[3])));
}
SAMEBIT_INLINE int32_t SumLanes(const Ints& v) {
  return vaddvq_s32(vaddq_s32(vaddq_s32(v.v[0], v.v[1]), vaddq_s32(v.v[2], v.v[3])));
}
SAMEBIT_INLINE int32_t LargestLane(const Ints& v) {
  return vmaxvq_s32(vmaxq_s32(vmaxq_s32(v.v[0], v.v[1]), vmaxq_s32(v.v[2], v.v[3])));
}

SAMEBIT_INLINE void Prefetch(const void* p) { __builtin_prefetch(p); }
SAMEBIT_INLINE void PrefetchFar(const void* p) { __builtin_prefetch(p, 0, 2); }

// The eight quads of 4 outputs of a payload as signed bytes; `payload` is moved by 16 bytes per 4 outputs.
// 8-bit codes become the signed weight (code - 128).
template <uint32_t kCodeBits>
SAMEBIT_INLINE void UnpackQuads(const uint8_t* payload, int8x16_t (&quads)[8]) {
  if constexpr (kCodeBits == 8) {
    for (int g = 0; g < 8; ++g) quads[g] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(payload + 64 * g), vdupq_n_u8(0x80)));
    return;
  }
  uint8x16_t codes[8];
  for (int g = 0; g < 4; ++g) {
    const uint8x16_t both = vld1q_u8(payload + 64 * g);
    codes[g] = vandq_u8(both, vdupq_n_u8(15));
    codes[g + 4] = vshrq_n_u8(both, 4);
  }
  if constexpr (kCodeBits == 5) {
    const uint8x16_t plane = vld1q_u8(payload + layout::kNibbleBytes);
    for (int g = 0; g < 8; ++g)
      codes[g] =
          vorrq_u8(codes[g], vandq_u8(vshlq_u8(plane, vdupq_n_s8(static_cast<int8_t>(4 - g))), vdupq_n_u8(0x10)));
  }
  if constexpr (kCodeBits == 6) {
    for (int g = 0; g < 8; ++g) {
      const uint8x16_t plane = vld1q_u8(payload + layout::kNibbleBytes + g / 4 * layout::kPlaneBytes);
      codes[g] = vorrq_u8(
          codes[g], vandq_u8(vshlq_u8(plane, vdupq_n_s8(static_cast<int8_t>(4 - 2 * (g % 4)))), vdupq_n_u8(0x30)));
    }
  }
  for (int g = 0; g < 8; ++g) quads[g] = vreinterpretq_s8_u8(codes[g]);
}

// Products in int16, summed over n quads before they are widened. |x| <= 127 and the sum is at most
//     4 bits: n *  15 * 127 = n *  1905     5 bits: n *  31 * 127 = n *  3937,  n = 8 in both
//     6 bits: n *  63 * 127 = n *  8001,  n = 4
//     8 bits: n * 128 * 127 = n * 16256,  n = 2
// all under 32768: exact.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void DotPayload(const uint8_t* payload, const int8_t (*x)[layout::kBlockInputs],
                               Ints (&isum)[kStream.groups][kRows]) {
  constexpr uint32_t kQuads = kStream.code_bits == 8 ? 2 : kStream.code_bits == 6 ? 4 : 8;
  for (int part = 0; part < 4; ++part) {
    int8x16_t quads[8];
    UnpackQuads<kStream.code_bits>(payload + 16 * part, quads);
    for (uint32_t r = 0; r < kRows; ++r) {
      // The signed 8-bit weight needs no correction by the row's sum: what the caller put into isum is replaced.
      if constexpr (kStream.code_bits == 8) isum[0][r].v[part] = vdupq_n_s32(0);
      for (uint32_t first = 0; first < 8; first += kQuads) {
        int16x8_t low = vdupq_n_s16(0), high = vdupq_n_s16(0);
        for (uint32_t g = first; g < first + kQuads; ++g) {
          int32_t word;
          __builtin_memcpy(&word, x[r] + 4 * g, sizeof word);
          const int8x16_t quad = vreinterpretq_s8_s32(vdupq_n_s32(word));
          low = vmlal_s8(low, vget_low_s8(quads[g]), vget_low_s8(quad));
          high = vmlal_s8(high, vget_high_s8(quads[g]), vget_high_s8(quad));
        }
        int32x4_t& sum = isum[kStream.groups == 2 ? first / 4 : 0][r].v[part];
        sum = vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
      }
    }
  }
}

SAMEBIT_INLINE Ints DotQuad(const Ints& sum, const Ints& codes, const Ints& x) {
  return EachInt([&](int i) {
    const int8x16_t a = vreinterpretq_s8_s32(codes.v[i]), b = vreinterpretq_s8_s32(x.v[i]);
    const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b)), high = vmull_s8(vget_high_s8(a), vget_high_s8(b));
    return vaddq_s32(sum.v[i], vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
  });
}

}  // namespace
}  // namespace samebit::kernels
