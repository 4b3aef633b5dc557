#include "arith/number_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "arith/environment.h"
#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::kThinning;
using testing::Random;
using testing::RandomBlocks;

constexpr uint16_t kOne = 0x3c00, kHalf = 0x3800, kMinusTwo = 0xc000;

TEST(Half, widens_every_pattern_to_the_value_of_its_fields) {
  for (uint32_t half = 0; half < 65536; ++half) {
    const float got = F16ToF32(static_cast<uint16_t>(half));
    const int exponent = (half >> 10) & 31, fraction = half & 1023;
    ASSERT_EQ(std::signbit(got), half >> 15 != 0) << half;
    if (exponent == 31) {
      ASSERT_TRUE(fraction == 0 ? std::isinf(got) : std::isnan(got)) << half;
    } else {
      const double expected = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(std::fabs(static_cast<double>(got)), expected) << half;
    }
  }
}

TEST(Half, every_pattern_survives_the_way_there_and_back) {
  for (uint32_t half = 0; half < 65536; ++half) {
    const uint16_t back = F32ToF16(F16ToF32(static_cast<uint16_t>(half)));
    const bool is_nan = (half & 0x7fff) > 0x7c00;
    ASSERT_TRUE(is_nan ? (back & 0x7fff) > 0x7c00 : back == half) << half;
  }
}

// The reference: nearest multiple of the half's unit, ties to even by the library, in binary64.
double NearestHalf(double x) {
  if (x == 0) return x;
  const int unit = std::max(std::ilogb(x), -14) - 10;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::fabs(rounded) >= 65536 ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

TEST(Half, narrowing_rounds_to_nearest_even_over_the_whole_range_of_halves) {
  for (uint64_t bits = 0x32000000; bits < 0x48000000; bits += 5 * kThinning) {
    const float x = FloatOf(static_cast<uint32_t>(bits));
    ASSERT_EQ(static_cast<double>(F16ToF32(F32ToF16(x))), NearestHalf(x)) << std::hexfloat << x;
    ASSERT_EQ(F32ToF16(-x), F32ToF16(x) | 0x8000) << x;
  }
}

TEST(Half, narrowing_at_ties_limits_and_special_values) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {  // midway between neighbours: to the even one
    const double low = F16ToF32(static_cast<uint16_t>(half)), high = F16ToF32(static_cast<uint16_t>(half + 1));
    ASSERT_EQ(F32ToF16(static_cast<float>((low + high) / 2)), half + (half & 1));
  }
  EXPECT_EQ(F32ToF16(65519.996f), 0x7bff);
  EXPECT_EQ(F32ToF16(65520.0f), 0x7c00);
  EXPECT_EQ(F32ToF16(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(F32ToF16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_GT(F32ToF16(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7c00);
  EXPECT_EQ(F32ToF16(0x1p-25f), 0);               // a tie with zero
  EXPECT_EQ(F32ToF16(FloatOf(BitsOf(0x1p-25f) + 1)), 1);
  EXPECT_EQ(F32ToF16(0x1p-149f), 0);
}

TEST(Bf16, widens_exactly) {
  EXPECT_EQ(Bf16ToF32(0x3f80), 1.0f);
  EXPECT_EQ(Bf16ToF32(0xc049), -3.140625f);
  EXPECT_EQ(Bf16ToF32(0x0001), 0x1p-133f);
}

template <class Block>
std::vector<float> Values(WeightType type, const Block& block) {
  std::vector<float> out(Format(type).block_elements);
  Dequantize(type, &block, out.size(), out.data());
  return out;
}

TEST(Dequantize, q4_0_low_nibbles_first_minus_8) {
  BlockQ4_0 block{kHalf, {}};
  block.codes[0] = 0x1f;   // code 15 at 0, code 1 at 16
  block.codes[15] = 0x08;  // code 8 at 15, code 0 at 31
  const auto w = Values(WeightType::kQ4_0, block);
  EXPECT_EQ(w[0], 3.5f);
  EXPECT_EQ(w[16], -3.5f);
  EXPECT_EQ(w[15], 0.0f);
  EXPECT_EQ(w[31], -4.0f);
}

TEST(Dequantize, q4_1_adds_the_minimum) {
  BlockQ4_1 block{kHalf, kMinusTwo, {}};
  block.codes[3] = 0xc5;
  const auto w = Values(WeightType::kQ4_1, block);
  EXPECT_EQ(w[3], 0.5f);
  EXPECT_EQ(w[19], 4.0f);
  EXPECT_EQ(w[0], -2.0f);
}

TEST(Dequantize, q5_0_takes_the_fifth_bit_from_bit_i) {
  BlockQ5_0 block{kOne, {}, {}};
  block.high[0] = 0x02;  // element 1
  block.high[3] = 0x80;  // element 31
  block.codes[1] = 0x03;
  block.codes[15] = 0xf0;
  const auto w = Values(WeightType::kQ5_0, block);
  EXPECT_EQ(w[0], -16.0f);
  EXPECT_EQ(w[1], 3.0f);
  EXPECT_EQ(w[17], -16.0f);
  EXPECT_EQ(w[31], 15.0f);
}

TEST(Dequantize, q5_1_has_the_fifth_bit_and_the_minimum) {
  BlockQ5_1 block{kHalf, kMinusTwo, {}, {}};
  block.high[2] = 0x01;  // element 16
  block.codes[0] = 0x21;
  const auto w = Values(WeightType::kQ5_1, block);
  EXPECT_EQ(w[0], -1.5f);
  EXPECT_EQ(w[16], 7.0f);
}

TEST(Dequantize, q8_0_keeps_signed_codes_with_minus_128) {
  BlockQ8_0 block{kHalf, {}};
  block.codes[0] = -128;
  block.codes[31] = 127;
  const auto w = Values(WeightType::kQ8_0, block);
  EXPECT_EQ(w[0], -64.0f);
  EXPECT_EQ(w[1], 0.0f);
  EXPECT_EQ(w[31], 63.5f);
}

// Groups 0..3 store their 6 bits whole, groups 4..7 in a nibble and two top bits.
void PutScales(uint8_t* packed, const uint8_t (&scales)[8], const uint8_t (&minimums)[8]) {
  for (int g = 0; g < 4; ++g) {
    packed[g] = static_cast<uint8_t>(scales[g] | (scales[g + 4] >> 4 << 6));
    packed[g + 4] = static_cast<uint8_t>(minimums[g] | (minimums[g + 4] >> 4 << 6));
    packed[g + 8] = static_cast<uint8_t>((scales[g + 4] & 15) | (minimums[g + 4] & 15) << 4);
  }
}

constexpr uint8_t kScales[8] = {1, 2, 63, 4, 33, 50, 17, 63};
constexpr uint8_t kMinimums[8] = {0, 63, 2, 1, 63, 18, 40, 0};

TEST(Dequantize, q4_k_has_eight_groups_with_packed_scales) {
  BlockQ4_K block{kHalf, kOne, {}, {}};
  PutScales(block.scales, kScales, kMinimums);
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 32; ++i) block.codes[32 * j + i] = static_cast<uint8_t>((i % 16) | ((15 - i % 16) << 4));
  const auto w = Values(WeightType::kQ4_K, block);
  for (int g = 0; g < 8; ++g)
    for (int i = 0; i < 32; ++i) {
      const int code = g % 2 == 0 ? i % 16 : 15 - i % 16;
      ASSERT_EQ(w[32 * g + i], 0.5f * kScales[g] * code - kMinimums[g]) << g << " " << i;
    }
}

TEST(Dequantize, q5_k_takes_the_fifth_bit_of_group_g_from_bit_g) {
  BlockQ5_K block{kHalf, kOne, {}, {}, {}};
  PutScales(block.scales, kScales, kMinimums);
  for (int i = 0; i < 32; ++i) block.high[i] = static_cast<uint8_t>(1 << (i % 8));
  for (int i = 0; i < 128; ++i) block.codes[i] = 0x73;
  const auto w = Values(WeightType::kQ5_K, block);
  for (int g = 0; g < 8; ++g)
    for (int i = 0; i < 32; ++i) {
      const int code = (g % 2 == 0 ? 3 : 7) + (i % 8 == g ? 16 : 0);
      ASSERT_EQ(w[32 * g + i], 0.5f * kScales[g] * code - kMinimums[g]) << g << " " << i;
    }
}

TEST(Dequantize, q6_k_has_16_groups_of_16_and_signed_scales) {
  BlockQ6_K block{};
  block.d = kHalf;
  for (int g = 0; g < 16; ++g) block.scales[g] = static_cast<int8_t>(g * 17 - 128);
  // Element e gets code (5 e + e / 64) mod 64, written field by field.
  const auto code_of = [](int e) { return (5 * e + e / 64) % 64; };
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, run = e % 128 / 32, i = e % 32, code = code_of(e);
    block.low[64 * half + i + 32 * (run % 2)] |= static_cast<uint8_t>((code & 15) << (run / 2 * 4));
    block.high[32 * half + i] |= static_cast<uint8_t>((code >> 4) << (2 * run));
  }
  const auto w = Values(WeightType::kQ6_K, block);
  for (int e = 0; e < 256; ++e) ASSERT_EQ(w[e], 0.5f * (e / 16 * 17 - 128) * (code_of(e) - 32)) << e;
}

TEST(Dequantize, float_formats_widen_every_element) {
  const uint16_t halves[2] = {kOne, kMinusTwo};
  const uint16_t brains[2] = {0x3f80, 0xc000};
  const float floats[2] = {1.0f, -2.0f};
  float out[2];
  Dequantize(WeightType::kF16, halves, 2, out);
  EXPECT_EQ(std::memcmp(out, floats, 8), 0);
  Dequantize(WeightType::kBf16, brains, 2, out);
  EXPECT_EQ(std::memcmp(out, floats, 8), 0);
  Dequantize(WeightType::kF32, floats, 2, out);
  EXPECT_EQ(std::memcmp(out, floats, 8), 0);
}

// w = scale * code + minimum with one rounding: exact in binary64 (at most 19 + 8 bits, then a sum), rounded once.
TEST(Dequantize, rounds_each_weight_once_and_scales_are_exact) {
  Random random(5);
  for (int t = static_cast<int>(WeightType::kQ4_0); t < kWeightTypeCount; ++t) {
    const auto type = static_cast<WeightType>(t);
    const WeightFormat& format = Format(type);
    const uint64_t elements = 256 * 40;
    const auto bytes = RandomBlocks(type, elements, random);
    std::vector<float> got(elements);
    Dequantize(type, bytes.data(), elements, got.data());
    uint8_t codes[256];
    float scales[16], minimums[16];
    for (uint64_t start = 0; start < elements; start += format.block_elements) {
      UnpackBlock(type, bytes.data() + StoredBytes(type, start), codes, scales, minimums);
      for (uint32_t i = 0; i < format.block_elements; ++i) {
        const uint32_t g = i / format.scale_elements;
        const double exact = static_cast<double>(scales[g]) * (codes[i] - format.code_offset) + minimums[g];
        ASSERT_EQ(got[start + i], static_cast<float>(exact)) << format.name << " " << start + i;
        ASSERT_LT(codes[i], 1u << format.code_bits);
      }
    }
  }
}

// Every f16 with every sub-scale: the product loses nothing in binary32.
TEST(Dequantize, f16_times_a_sub_scale_is_exact_for_every_pair) {
  for (uint32_t half = 0; half < 0x7c00; half += 1 + 6 * (kThinning > 1)) {
    const float unit = F16ToF32(static_cast<uint16_t>(half));
    for (int scale = 0; scale <= 128; ++scale)
      ASSERT_EQ(static_cast<double>(unit * static_cast<float>(scale)), static_cast<double>(unit) * scale);
  }
}

TEST(StoredBytes, follows_the_block_sizes_of_gguf) {
  EXPECT_EQ(StoredBytes(WeightType::kF32, 256), 1024u);
  EXPECT_EQ(StoredBytes(WeightType::kBf16, 256), 512u);
  EXPECT_EQ(StoredBytes(WeightType::kQ4_0, 256), 144u);
  EXPECT_EQ(StoredBytes(WeightType::kQ8_0, 256), 272u);
  EXPECT_EQ(StoredBytes(WeightType::kQ4_K, 512), 288u);
  EXPECT_EQ(StoredBytes(WeightType::kQ6_K, 256), 210u);
}

}  // namespace
}  // namespace samebit::arith
