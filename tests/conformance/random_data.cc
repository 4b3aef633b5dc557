#include "random_data.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace samebit::conformance {

namespace {

using arith::WeightType;

float RandomFloat(Random& random, Style style) {
  const float plain = (random.Unit() + random.Unit() + random.Unit()) * 0.75f;
  const uint32_t dice = random.Below(64);
  switch (style) {
    case Style::kPlain: return plain;
    case Style::kOutlier: return dice == 0 ? plain * 1000.0f : plain;
    case Style::kWide: {
      const int exponent = static_cast<int>(random.Below(161)) - 140;
      // Two exact powers of two, so that subnormals are reached by one rounding.
      return (plain * std::bit_cast<float>(static_cast<uint32_t>(127 + exponent / 2) << 23)) *
             std::bit_cast<float>(static_cast<uint32_t>(127 + exponent - exponent / 2) << 23);
    }
    case Style::kSparse: return dice < 40 ? 0.0f : dice < 60 ? -0.0f : plain;
    case Style::kExtreme: return dice % 2 == 0 ? 3.75f : -3.75f;
  }
  return 0;
}

// Finite f16 bits: mostly of weights' size, sometimes zero, subnormal, negative or large.
uint16_t RandomScale(Random& random) {
  const uint16_t fraction = static_cast<uint16_t>(random.Below(1024));
  switch (random.Below(16)) {
    case 0: return 0;
    case 1: return fraction;                                        // subnormal
    case 2: return static_cast<uint16_t>((27u << 10) | fraction);   // thousands
    case 3: return static_cast<uint16_t>(0x8000u | (8u << 10) | fraction);
    default: return static_cast<uint16_t>((6u + random.Below(6)) << 10 | fraction);
  }
}

void PutHalf(uint8_t* at, uint16_t half) { std::memcpy(at, &half, sizeof half); }

// Where a stored block keeps its f16 numbers; the rest are codes and sub-scales, of which every byte is valid.
void PutScales(Random& random, WeightType type, uint8_t* block) {
  if (type == WeightType::kQ6_K) {
    PutHalf(block + offsetof(arith::BlockQ6_K, d), RandomScale(random));
    return;
  }
  PutHalf(block, RandomScale(random));
  if (arith::Format(type).has_minimum) PutHalf(block + 2, RandomScale(random));
}

}  // namespace

std::vector<float> RandomFloats(Random& random, size_t n, Style style) {
  std::vector<float> values(n);
  for (float& value : values) value = RandomFloat(random, style);
  return values;
}

std::vector<uint8_t> RandomWeights(Random& random, WeightType type, uint32_t rows, uint32_t columns, Style style) {
  const arith::WeightFormat& format = arith::Format(type);
  const uint64_t row_bytes = arith::StoredBytes(type, columns);
  std::vector<uint8_t> bytes(rows * row_bytes);
  if (!format.quantized) {
    const Style of_elements = style == Style::kExtreme ? Style::kOutlier : style;
    for (uint64_t i = 0; i < uint64_t{rows} * columns; ++i) {
      const float value = RandomFloat(random, of_elements);
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      if (type == WeightType::kF32) std::memcpy(&bytes[4 * i], &value, 4);
      if (type == WeightType::kF16) PutHalf(&bytes[2 * i], arith::F32ToF16(value * 0.01f));
      if (type == WeightType::kBf16) PutHalf(&bytes[2 * i], static_cast<uint16_t>(bits >> 16));
    }
    return bytes;
  }
  for (uint32_t row = 0; row < rows; ++row) {
    // Stored 0x80 is the Q8_0 code -128; 0x00 and 0xff are the ends of the packed codes.
    const uint8_t low_end = type == WeightType::kQ8_0 ? 0x80 : 0x00;
    const uint8_t high_end = type == WeightType::kQ8_0 ? 0x7f : 0xff;
    for (uint64_t at = 0; at < row_bytes; at += format.block_bytes) {
      uint8_t* block = &bytes[row * row_bytes + at];
      for (uint32_t i = 0; i < format.block_bytes; ++i)
        block[i] = style == Style::kExtreme ? (row % 2 == 0 ? low_end : high_end) : static_cast<uint8_t>(random.Next());
      if (style == Style::kExtreme && type == WeightType::kQ6_K)
        std::memset(block + offsetof(arith::BlockQ6_K, scales), row % 4 < 2 ? 0x80 : 0x7f, 16);
      PutScales(random, type, block);
    }
  }
  return bytes;
}

}  // namespace samebit::conformance
