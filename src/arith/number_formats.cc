#include "arith/number_formats.h"

#include <cstring>

#include "arith/environment.h"
#include "base/check.h"

namespace samebit::arith {

namespace {

constexpr WeightFormat kFormats[kWeightTypeCount] = {
    // name, block elements, block bytes, quantized, scale elements, offset, bits, minimum
    {"F32", 1, 4, false, 1, 0, 0, false},
    {"F16", 1, 2, false, 1, 0, 0, false},
    {"BF16", 1, 2, false, 1, 0, 0, false},
    {"Q4_0", 32, 18, true, 32, 8, 4, false},
    {"Q4_1", 32, 20, true, 32, 0, 4, true},
    {"Q5_0", 32, 22, true, 32, 16, 5, false},
    {"Q5_1", 32, 24, true, 32, 0, 5, true},
    {"Q8_0", 32, 34, true, 32, 128, 8, false},
    {"Q4_K", 256, 144, true, 32, 0, 4, true},
    {"Q5_K", 256, 176, true, 32, 0, 5, true},
    {"Q6_K", 256, 210, true, 16, 32, 6, false},
};

// The eight 6-bit scales and minimums of Q4_K and Q5_K, packed into 12 bytes.
void UnpackScaleAndMinimum(const uint8_t* packed, int group, uint8_t* scale, uint8_t* minimum) {
  if (group < 4) {
    *scale = packed[group] & 63;
    *minimum = packed[group + 4] & 63;
  } else {
    *scale = static_cast<uint8_t>((packed[group + 4] & 15) | ((packed[group - 4] >> 6) << 4));
    *minimum = static_cast<uint8_t>((packed[group + 4] >> 4) | ((packed[group] >> 6) << 4));
  }
}

void UnpackNibbles(const uint8_t* packed, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    codes[i] = packed[i] & 15;
    codes[i + 16] = packed[i] >> 4;
  }
}

void AddFifthBit(const uint8_t* high, uint8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(codes[i] | (((high[i / 8] >> (i % 8)) & 1) << 4));
}

// Q4_K and Q5_K share everything but the fifth bits (high == nullptr for Q4_K).
void UnpackSuperBlock(uint16_t d, uint16_t dmin, const uint8_t* packed_scales, const uint8_t* nibbles,
                      const uint8_t* high, uint8_t* codes, float* scales, float* minimums) {
  const float scale_unit = F16ToF32(d);
  const float minimum_unit = F16ToF32(dmin);
  for (int group = 0; group < 8; ++group) {
    uint8_t scale, minimum;
    UnpackScaleAndMinimum(packed_scales, group, &scale, &minimum);
    scales[group] = scale_unit * static_cast<float>(scale);          // exact: 11 + 6 bits
    minimums[group] = -(minimum_unit * static_cast<float>(minimum));  // exact: 11 + 6 bits
    // Groups 2j and 2j+1 are the low and the high nibbles of the same 32 bytes.
    const uint8_t* bytes = nibbles + (group / 2) * 32;
    for (int i = 0; i < 32; ++i) {
      uint8_t code = group % 2 == 0 ? bytes[i] & 15 : bytes[i] >> 4;
      if (high != nullptr) code = static_cast<uint8_t>(code | (((high[i] >> group) & 1) << 4));
      codes[group * 32 + i] = code;
    }
  }
}

void UnpackQ6K(const BlockQ6_K& block, uint8_t* codes, float* scales, float* minimums) {
  // Two halves of 128 elements; in each, four runs of 32 share 64 low bytes and 32 high bytes.
  for (int half = 0; half < 2; ++half) {
    const uint8_t* low = block.low + 64 * half;
    const uint8_t* high = block.high + 32 * half;
    uint8_t* out = codes + 128 * half;
    for (int i = 0; i < 32; ++i) {
      out[i] = static_cast<uint8_t>((low[i] & 15) | ((high[i] & 3) << 4));
      out[i + 32] = static_cast<uint8_t>((low[i + 32] & 15) | (((high[i] >> 2) & 3) << 4));
      out[i + 64] = static_cast<uint8_t>((low[i] >> 4) | (((high[i] >> 4) & 3) << 4));
      out[i + 96] = static_cast<uint8_t>((low[i + 32] >> 4) | (((high[i] >> 6) & 3) << 4));
    }
  }
  const float unit = F16ToF32(block.d);
  for (int group = 0; group < 16; ++group) {
    scales[group] = unit * static_cast<float>(block.scales[group]);  // exact: 11 + 8 bits
    minimums[group] = 0;
  }
}

template <class Block>
Block Load(const void* bytes) {  // stored blocks have no alignment
  Block block;
  std::memcpy(&block, bytes, sizeof block);
  return block;
}

}  // namespace

const WeightFormat& Format(WeightType type) { return kFormats[static_cast<int>(type)]; }

float F16ToF32(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t exponent = (half >> 10) & 31;
  const uint32_t fraction = half & 1023;
  if (exponent == 31) return FloatOf(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return FloatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
  return FloatOf(BitsOf(static_cast<float>(fraction) * 0x1p-24f) | sign);
}

uint16_t F32ToF16(float value) {
  uint32_t bits = BitsOf(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (bits >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 2^16 and above
  if (bits < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the result's units of 2^-24 in the last place
    const float shifted = FloatOf(bits) + 0.5f;
    return static_cast<uint16_t>(sign | (BitsOf(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (bits >> 13) & 1;
  return static_cast<uint16_t>(sign | ((bits + 0xfffu + odd - 0x38000000u) >> 13));
}

void UnpackBlock(WeightType type, const void* block, uint8_t* codes, float* scales, float* minimums) {
  minimums[0] = 0;
  switch (type) {
    case WeightType::kQ4_0: {
      const auto stored = Load<BlockQ4_0>(block);
      UnpackNibbles(stored.codes, codes);
      scales[0] = F16ToF32(stored.d);
      return;
    }
    case WeightType::kQ4_1: {
      const auto stored = Load<BlockQ4_1>(block);
      UnpackNibbles(stored.codes, codes);
      scales[0] = F16ToF32(stored.d);
      minimums[0] = F16ToF32(stored.m);
      return;
    }
    case WeightType::kQ5_0: {
      const auto stored = Load<BlockQ5_0>(block);
      UnpackNibbles(stored.codes, codes);
      AddFifthBit(stored.high, codes);
      scales[0] = F16ToF32(stored.d);
      return;
    }
    case WeightType::kQ5_1: {
      const auto stored = Load<BlockQ5_1>(block);
      UnpackNibbles(stored.codes, codes);
      AddFifthBit(stored.high, codes);
      scales[0] = F16ToF32(stored.d);
      minimums[0] = F16ToF32(stored.m);
      return;
    }
    case WeightType::kQ8_0: {
      const auto stored = Load<BlockQ8_0>(block);
      for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(stored.codes[i] + 128);
      scales[0] = F16ToF32(stored.d);
      return;
    }
    case WeightType::kQ4_K: {
      const auto stored = Load<BlockQ4_K>(block);
      UnpackSuperBlock(stored.d, stored.dmin, stored.scales, stored.codes, nullptr, codes, scales, minimums);
      return;
    }
    case WeightType::kQ5_K: {
      const auto stored = Load<BlockQ5_K>(block);
      UnpackSuperBlock(stored.d, stored.dmin, stored.scales, stored.codes, stored.high, codes, scales, minimums);
      return;
    }
    case WeightType::kQ6_K: {
      UnpackQ6K(Load<BlockQ6_K>(block), codes, scales, minimums);
      return;
    }
    default: CHECK(false);
  }
}

void Dequantize(WeightType type, const void* blocks, uint64_t elements, float* out) {
  const WeightFormat& format = Format(type);
  CHECK(elements % format.block_elements == 0);
  const auto* bytes = static_cast<const uint8_t*>(blocks);
  if (!format.quantized) {
    for (uint64_t i = 0; i < elements; ++i) {
      if (type == WeightType::kF32) out[i] = Load<float>(bytes + 4 * i);
      if (type == WeightType::kF16) out[i] = F16ToF32(Load<uint16_t>(bytes + 2 * i));
      if (type == WeightType::kBf16) out[i] = Bf16ToF32(Load<uint16_t>(bytes + 2 * i));
    }
    return;
  }
  uint8_t codes[256];
  float scales[16], minimums[16];
  for (uint64_t start = 0; start < elements; start += format.block_elements, bytes += format.block_bytes) {
    UnpackBlock(type, bytes, codes, scales, minimums);
    for (uint32_t i = 0; i < format.block_elements; ++i) {
      const uint32_t group = i / format.scale_elements;
      const float code = static_cast<float>(static_cast<int32_t>(codes[i]) - format.code_offset);
      out[start + i] = Fma(scales[group], code, minimums[group]);
    }
  }
}

uint64_t StoredBytes(WeightType type, uint64_t elements) {
  const WeightFormat& format = Format(type);
  CHECK(elements % format.block_elements == 0);
  return elements / format.block_elements * format.block_bytes;
}

}  // namespace samebit::arith
