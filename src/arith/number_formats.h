// Number formats: how stored bytes become IEEE binary32 values. Part of the law (samebit-arith/1).
//
// Every weight format is, per output row and block, one of
//     w = scale * code + minimum      evaluated as fma(scale, code, minimum), one rounding,
// where `code` is a small integer and `scale`, `minimum` are exact in binary32 (for K-quants the product of the
// super-block's f16 scale and its integer sub-scale has at most 11 + 8 significant bits, so it is exact too).
// Block layouts are those of GGUF (ggml); "frozen": they are read from files.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace samebit::arith {

enum class WeightType : uint8_t { kF32, kF16, kBf16, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0, kQ4_K, kQ5_K, kQ6_K };
inline constexpr int kWeightTypeCount = 11;

struct WeightFormat {
  std::string_view name;        // "Q4_1"
  uint32_t block_elements;      // elements of a stored block: 1, 32 or 256
  uint32_t block_bytes;         // bytes of a stored block
  bool quantized;               // rule Q (true) or rule L (false)
  uint32_t scale_elements;      // elements that share one scale: 32, or 16 for Q6_K; 1 for float formats
  int32_t code_offset;          // stored minus signed code: 8 Q4_0, 16 Q5_0, 128 Q8_0 (as unpacked), 32 Q6_K, else 0
  uint32_t code_bits;           // 4, 5, 6 or 8; 0 for float formats
  bool has_minimum;             // Q4_1, Q5_1, Q4_K, Q5_K
};
const WeightFormat& Format(WeightType type);

// Stored blocks, byte for byte as in GGUF. f16 values are kept as their bits.
// Code i: the low nibble of byte i for i < 16, else the high nibble of byte i - 16.
struct BlockQ4_0 { uint16_t d; uint8_t codes[16]; };
struct BlockQ4_1 { uint16_t d, m; uint8_t codes[16]; };
// Bit i of `high` (a little-endian u32) is bit 4 of code i.
struct BlockQ5_0 { uint16_t d; uint8_t high[4]; uint8_t codes[16]; };
struct BlockQ5_1 { uint16_t d, m; uint8_t high[4]; uint8_t codes[16]; };
struct BlockQ8_0 { uint16_t d; int8_t codes[32]; };
struct BlockQ4_K { uint16_t d, dmin; uint8_t scales[12]; uint8_t codes[128]; };
struct BlockQ5_K { uint16_t d, dmin; uint8_t scales[12]; uint8_t high[32]; uint8_t codes[128]; };
struct BlockQ6_K { uint8_t low[128]; uint8_t high[64]; int8_t scales[16]; uint16_t d; };
static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210);

inline uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }
inline float FloatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

// f16 <-> f32: exact widening; narrowing rounds to nearest even with gradual underflow, overflow gives infinity.
float F16ToF32(uint16_t half);
uint16_t F32ToF16(float value);
inline float Bf16ToF32(uint16_t bits) { return FloatOf(uint32_t{bits} << 16); }


// Unpacks one stored block (block_elements elements) of a quantized format.
//   codes    [block_elements] unsigned codes; for Q8_0 the signed code + 128
//   scales   [block_elements / scale_elements]
//   minimums [block_elements / scale_elements]
// Precondition: Format(type).quantized.
void UnpackBlock(WeightType type, const void* block, uint8_t* codes, float* scales, float* minimums);


// Dequantizes `elements` elements (a whole number of blocks) to f32, one rounding each; float formats widen exactly.
void Dequantize(WeightType type, const void* blocks, uint64_t elements, float* out);

// Bytes of `elements` elements; elements must be a whole number of blocks.
uint64_t StoredBytes(WeightType type, uint64_t elements);

}  // namespace samebit::arith
