#include "arith/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/environment.h"
#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::kThinning;
using testing::Random;
using testing::RandomBlocks;

constexpr WeightType kQuantized[] = {WeightType::kQ4_0, WeightType::kQ4_1, WeightType::kQ5_0, WeightType::kQ5_1,
                                     WeightType::kQ8_0, WeightType::kQ4_K, WeightType::kQ5_K, WeightType::kQ6_K};

// A quantized row with its storage.
struct Row {
  std::vector<int8_t> codes;
  std::vector<float> scales, scaled_sums;
  std::vector<int32_t> half_sums;
  bool finite;
  explicit Row(const std::vector<float>& x)
      : codes(x.size()), scales(x.size() / 32), scaled_sums(x.size() / 32), half_sums(x.size() / 16) {
    finite = QuantizeRow(x.data(), static_cast<uint32_t>(x.size()),
                         {codes.data(), scales.data(), scaled_sums.data(), half_sums.data()});
  }
};

TEST(ActivationScale, is_the_nearest_number_of_11_bits) {
  Random random(7);
  for (uint64_t i = 0; i < 400'000 / kThinning; ++i) {
    const float amax = std::ldexp(1.0f + random.Signed() * 0.5f, static_cast<int>(random.Below(220)) - 99);
    const float scale = ActivationScale(amax);
    ASSERT_EQ(BitsOf(scale) & 0x1fff, 0u);
    const double quotient = amax / 127.0f;  // the law rounds the binary32 quotient
    const int unit = std::ilogb(quotient) - 10;
    ASSERT_EQ(scale, std::ldexp(std::nearbyint(std::ldexp(quotient, -unit)), unit)) << amax;
  }
}

TEST(QuantizeRow, codes_are_nearest_and_stay_within_127) {
  Random random(8);
  for (uint64_t i = 0; i < 40'000 / kThinning; ++i) {
    const int exponent = static_cast<int>(random.Below(200)) - 95;
    std::vector<float> x(32);
    for (float& value : x) value = std::ldexp(random.Signed(), exponent);
    x[random.Below(32)] = std::ldexp(1.0f, exponent) * (random.Below(2) ? 1 : -1);
    const Row row(x);
    ASSERT_TRUE(row.finite);
    int sums[2] = {0, 0};
    for (int k = 0; k < 32; ++k) {
      ASSERT_GE(row.codes[k], -127);
      ASSERT_LE(row.codes[k], 127);
      // Nearest up to the rounding of 1/scale: half a step and a little.
      ASSERT_LE(std::fabs(x[k] / static_cast<double>(row.scales[0]) - row.codes[k]), 0.5 + 127 * 0x1p-23);
      sums[k / 16] += row.codes[k];
    }
    ASSERT_EQ(row.half_sums[0], sums[0]);
    ASSERT_EQ(row.half_sums[1], sums[1]);
    ASSERT_EQ(static_cast<double>(row.scaled_sums[0]), static_cast<double>(row.scales[0]) * (sums[0] + sums[1]));
  }
}

// The scale may be rounded down, so that amax / scale is over 127: the largest code must not become 128.
TEST(QuantizeRow, the_largest_element_gets_code_127_for_every_significand) {
  for (uint32_t fraction = 0; fraction < 1 << 23; fraction += 7 * kThinning) {
    std::vector<float> x(32, 0.0f);
    x[5] = FloatOf(0x3f800000u | fraction);
    x[6] = -x[5];
    const Row row(x);
    ASSERT_EQ(row.codes[5], 127) << fraction;
    ASSERT_EQ(row.codes[6], -127) << fraction;
  }
}

TEST(QuantizeRow, ties_go_to_the_even_code) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;  // the scale is exactly 1
  x[1] = 0.5f, x[2] = 1.5f, x[3] = -2.5f, x[4] = -3.5f;
  const Row row(x);
  EXPECT_EQ(row.scales[0], 1.0f);
  EXPECT_EQ(row.codes[1], 0);
  EXPECT_EQ(row.codes[2], 2);
  EXPECT_EQ(row.codes[3], -2);
  EXPECT_EQ(row.codes[4], -4);
}

TEST(QuantizeRow, a_block_under_the_cutoff_is_zero_and_one_at_it_is_not) {
  std::vector<float> x(64, 0.0f);
  x[0] = std::nextafter(0x1p-100f, 0.0f);
  x[32] = -0x1p-100f;
  const Row row(x);
  EXPECT_TRUE(row.finite);
  EXPECT_EQ(row.scales[0], 0.0f);
  EXPECT_EQ(row.codes[0], 0);
  EXPECT_GT(row.scales[1], 0.0f);
  EXPECT_EQ(row.codes[32], -127);
}

TEST(QuantizeRow, refuses_nan_and_infinity_wherever_they_stand) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                    -std::numeric_limits<float>::infinity()})
    for (uint32_t at = 0; at < 96; ++at) {
      std::vector<float> x(96, 1.0f);
      x[at] = bad;
      EXPECT_FALSE(Row(x).finite);
    }
  EXPECT_TRUE(Row(std::vector<float>(96, std::numeric_limits<float>::max())).finite);
}

TEST(RuleQ, integer_sums_are_exact_in_binary32_for_every_format) {
  for (WeightType type : kQuantized) {
    const WeightFormat& format = Format(type);
    const int64_t lowest = -format.code_offset, highest = (int64_t{1} << format.code_bits) - 1 - format.code_offset;
    const int64_t largest = std::max(std::abs(lowest), std::abs(highest)) * 127 * format.scale_elements;
    EXPECT_LT(largest, 1 << 24) << format.name;
  }
}

// 11 + 11 bits: exact, down to the smallest f16 scale with the smallest activation scale.
TEST(RuleQ, one_f16_scale_times_the_activation_scale_is_exact) {
  Random random(9);
  for (uint64_t i = 0; i < 1'000'000 / kThinning; ++i) {
    const float w = F16ToF32(static_cast<uint16_t>(random.Below(0x7c00)));
    const int exponent = static_cast<int>(random.Below(190)) - 99;
    const float x = ActivationScale(std::ldexp(1.0f + 0.5f * random.Signed(), exponent));
    ASSERT_EQ(static_cast<double>(w * x), static_cast<double>(w) * x);
  }
}

// Rule Q written a second time, from the stored bytes and the documentation: std::fma, 64-bit integers, recursion.
float NodeOfQ(WeightType type, const std::vector<uint8_t>& row, const Row& x, uint32_t begin, uint32_t end,
              uint32_t unit, int depth) {
  const WeightFormat& format = Format(type);
  const uint32_t units = (end - begin) / unit;
  if (units >= 2 && (depth < 2 || (depth == 2 && units * unit >= 256))) {
    const uint32_t middle = begin + units / 2 * unit;
    const float left = NodeOfQ(type, row, x, begin, middle, unit, depth + 1);
    return left + NodeOfQ(type, row, x, middle, end, unit, depth + 1);
  }
  float acc = 0;
  for (uint32_t k = begin; k < end; k += format.scale_elements) {
    uint8_t codes[256];
    float scales[16], minimums[16];
    const uint32_t block = k / format.block_elements, inside = k % format.block_elements;
    UnpackBlock(type, &row[uint64_t{block} * format.block_bytes], codes, scales, minimums);
    int64_t isum = 0;
    for (uint32_t i = 0; i < format.scale_elements; ++i)
      isum += int64_t{x.codes[k + i]} * (int64_t{codes[inside + i]} - format.code_offset);
    const uint32_t group = inside / format.scale_elements;
    acc = std::fma(static_cast<float>(isum), scales[group] * x.scales[k / 32], acc);
    if (format.has_minimum) {
      const float sum = static_cast<float>(x.half_sums[k / 16] + x.half_sums[k / 16 + 1]);
      acc = std::fma(minimums[group], sum * x.scales[k / 32], acc);
    }
  }
  return acc;
}

TEST(RuleQ, the_reference_equals_a_second_writing_of_the_rule_bit_for_bit) {
  Random random(10);
  for (WeightType type : kQuantized)
    for (uint32_t columns : {256u, 768u, 2304u}) {
      const uint32_t rows = 5, m = 3;
      const auto bytes = RandomBlocks(type, uint64_t{rows} * columns, random);
      const auto x = random.Normals(m * columns, 3.0f);
      const TreeShape shape = LinearTreeShape(type, columns);
      std::vector<float> y(m * rows);
      ASSERT_TRUE(LinearReference({type, rows, columns, bytes.data()}, MakeTree(shape), x.data(), m, y.data()));
      const uint64_t row_bytes = StoredBytes(type, columns);
      for (uint32_t i = 0; i < m; ++i) {
        const Row quantized({x.begin() + i * columns, x.begin() + (i + 1) * columns});
        for (uint32_t n = 0; n < rows; ++n) {
          const std::vector<uint8_t> row(bytes.begin() + n * row_bytes, bytes.begin() + (n + 1) * row_bytes);
          ASSERT_EQ(BitsOf(y[i * rows + n]), BitsOf(NodeOfQ(type, row, quantized, 0, columns, shape.unit, 0)))
              << Format(type).name << " K " << columns;
        }
      }
    }
}

TEST(RuleL, float_formats_are_chains_of_fma_joined_by_the_tree) {
  Random random(11);
  for (WeightType type : {WeightType::kF32, WeightType::kF16, WeightType::kBf16}) {
    const uint32_t columns = 96;
    const auto bytes = RandomBlocks(type, columns, random);
    const auto x = random.Normals(columns);
    std::vector<float> w(columns);
    Dequantize(type, bytes.data(), columns, w.data());
    float leaf[3] = {};
    for (uint32_t k = 0; k < columns; ++k) leaf[k / 32] = std::fma(x[k], w[k], leaf[k / 32]);
    float y;
    const auto tree = MakeTree(LinearTreeShape(type, columns));
    ASSERT_TRUE(LinearReference({type, 1, columns, bytes.data()}, tree, x.data(), 1, &y));
    EXPECT_EQ(BitsOf(y), BitsOf(leaf[0] + (leaf[1] + leaf[2])));
  }
}

// Root mean square error over the root mean square of the answers, in units of 2^-24, against binary64.
double RelativeError(const std::vector<float>& got, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += (got[i] - exact[i]) * (got[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return std::sqrt(error / size) * 0x1p24;
}

// The statement of docs/arithmetic.md: the tree keeps the error nearly flat in K, a plain chain grows.
TEST(RuleL, error_against_binary64_is_under_10_units_for_every_K) {
  Random random(12);
  for (uint32_t columns : {576u, 1536u, 4096u, 14336u}) {
    const uint32_t rows = kThinning > 1 ? 64 : 256;
    const auto w = random.Normals(uint64_t{rows} * columns, 0.05f);
    const auto x = random.Normals(columns);
    std::vector<float> tree(rows), chain(rows);
    std::vector<double> exact(rows);
    const LinearWeights weights{WeightType::kF32, rows, columns, w.data()};
    LinearReference(weights, MakeTree({columns, 32, true}), x.data(), 1, tree.data());
    LinearReference(weights, {{0, columns, 0}}, x.data(), 1, chain.data());
    for (uint32_t n = 0; n < rows; ++n)
      for (uint32_t k = 0; k < columns; ++k) exact[n] += static_cast<double>(x[k]) * w[uint64_t{n} * columns + k];
    EXPECT_LT(RelativeError(tree, exact), 10.0) << columns;
    if (columns >= 1536) {
      EXPECT_GT(RelativeError(chain, exact), 1.5 * RelativeError(tree, exact)) << columns;
    }
  }
}

// Two errors of rule Q: that of its rounded sums (units of 2^-24), and that of the int8 activations (under 1 %).
TEST(RuleQ, error_against_binary64_is_stated) {
  Random random(13);
  for (WeightType type : kQuantized)
    for (uint32_t columns : {768u, 4096u, 14336u}) {
      const uint32_t rows = kThinning > 1 ? 32 : 64;
      const auto bytes = RandomBlocks(type, uint64_t{rows} * columns, random);
      const auto x = random.Normals(columns);
      std::vector<float> y(rows), w(uint64_t{rows} * columns);
      const auto tree = MakeTree(LinearTreeShape(type, columns));
      ASSERT_TRUE(LinearReference({type, rows, columns, bytes.data()}, tree, x.data(), 1, y.data()));
      const Row quantized(x);
      std::vector<double> same_inputs(rows), float_inputs(rows);
      uint8_t codes[256];
      float scales[16], minimums[16];
      const WeightFormat& format = Format(type);
      for (uint32_t n = 0; n < rows; ++n)
        for (uint32_t k = 0; k < columns; ++k) {
          const uint32_t inside = k % format.block_elements;
          if (inside == 0)
            UnpackBlock(type, &bytes[StoredBytes(type, uint64_t{n} * columns + k)], codes, scales, minimums);
          const uint32_t g = inside / format.scale_elements;
          const double weight = static_cast<double>(scales[g]) * (codes[inside] - format.code_offset) + minimums[g];
          same_inputs[n] += weight * quantized.codes[k] * quantized.scales[k / 32];
          float_inputs[n] += weight * x[k];
        }
      // A format with a minimum cancels: code * scale and minimum are each larger than their sum.
      EXPECT_LT(RelativeError(y, same_inputs), format.has_minimum ? 30.0 : 6.0) << format.name << " " << columns;
      EXPECT_LT(RelativeError(y, float_inputs) * 0x1p-24, 0.01) << format.name << " " << columns;
    }
}

TEST(RuleL, parts_of_tensor_parallel_ranks_add_up_to_the_whole_bit_for_bit) {
  Random random(14);
  for (WeightType type : {WeightType::kF16, WeightType::kQ4_1, WeightType::kQ6_K}) {
    const uint32_t columns = 2304, rows = 16;
    const auto bytes = RandomBlocks(type, uint64_t{rows} * columns, random);
    const auto x = random.Normals(columns);
    const TreeShape shape = LinearTreeShape(type, columns);
    const LinearWeights weights{type, rows, columns, bytes.data()};
    std::vector<float> whole(rows);
    LinearReference(weights, MakeTree(shape), x.data(), 1, whole.data());
    for (uint32_t ranks : {2u, 4u, 8u}) {
      std::vector<std::vector<float>> parts(ranks, std::vector<float>(rows));
      for (uint32_t rank = 0; rank < ranks; ++rank)
        LinearReference(weights, MakeTreeOfRank(shape, ranks, rank), x.data(), 1, parts[rank].data());
      for (uint32_t width = 1; width < ranks; width *= 2)
        for (uint32_t rank = 0; rank < ranks; rank += 2 * width)
          for (uint32_t n = 0; n < rows; ++n) parts[rank][n] = parts[rank][n] + parts[rank + width][n];
      for (uint32_t n = 0; n < rows; ++n) ASSERT_EQ(BitsOf(parts[0][n]), BitsOf(whole[n])) << ranks;
    }
  }
}

TEST(LinearTreeShape, raises_the_unit_to_whole_stored_blocks) {
  EXPECT_EQ(LinearTreeShape(WeightType::kF32, 576, 64).unit, 64u);
  EXPECT_EQ(LinearTreeShape(WeightType::kQ4_1, 576, 64).unit, 64u);
  EXPECT_EQ(LinearTreeShape(WeightType::kQ4_K, 2048, 64).unit, 256u);
  EXPECT_EQ(LinearTreeShape(WeightType::kQ4_0, 1600, 80).unit, 160u);  // lcm(80, 32)
  EXPECT_EQ(LinearTreeShape(WeightType::kQ4_0, 224, 80).unit, 32u);    // 160 does not divide 224
  EXPECT_TRUE(LinearTreeShape(WeightType::kBf16, 576).split_long_leaves);
  EXPECT_FALSE(LinearTreeShape(WeightType::kQ8_0, 576).split_long_leaves);
}

TEST(LinearReference, refuses_a_row_that_is_not_finite_for_quantized_weights) {
  Random random(15);
  const auto bytes = RandomBlocks(WeightType::kQ8_0, 64, random);
  std::vector<float> x(128, 1.0f);
  x[127] = std::numeric_limits<float>::infinity();
  float y[4];
  EXPECT_FALSE(LinearReference({WeightType::kQ8_0, 2, 32, bytes.data()}, MakeTree({32, 32, false}), x.data(), 4, y));
}

}  // namespace
}  // namespace samebit::arith
