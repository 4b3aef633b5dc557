// Rules L, Q, T: KernelTable::linear and quantize_row equal arith bit for bit, for every weight type, shape, tree,
// range of panels and instruction set of this machine. The last test shows that the comparison can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "arith/linear.h"
#include "kernels/control_kernels.h"
#include "kernels/kernels.h"
#include "random_data.h"

namespace samebit::conformance {
namespace {

using arith::WeightType;
using kernels::Isa;
using kernels::KernelTable;
using kernels::LinearCall;
using kernels::PackedMatrix;
using kernels::QuantizedRows;

constexpr uint32_t kRowsMax = 129;
constexpr uint32_t kRowCounts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,  12,  13,
                                   14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
constexpr float kUntouched = -12345.5f;

// Weights, activations and the law's answer for one matrix.
struct Problem {
  WeightType type;
  uint32_t outputs, inputs;
  std::vector<uint8_t> stored;
  std::vector<float> x;  // [kRowsMax, inputs]
  std::vector<arith::Leaf> tree;
  std::vector<float> expected;  // [kRowsMax, outputs]
  PackedMatrix packed;
};

struct TreeChoice {
  uint32_t ranks = 1, rank = 0;
};

// A problem whose rows have every style in turn, or one style only.
Problem MakeProblem(WeightType type, uint32_t outputs, uint32_t inputs, TreeChoice choice, uint64_t seed,
                    Style weight_style) {
  Random random(seed);
  Problem p{type, outputs, inputs, RandomWeights(random, type, outputs, inputs, weight_style), {}, {}, {}, {}};
  for (uint32_t row = 0; row < kRowsMax; ++row) {
    Style style = kStyles[row % std::size(kStyles)];
    // Products of two wide numbers leave binary32's range, and then infinity minus infinity is NaN.
    if (style == Style::kWide && !arith::Format(type).quantized) style = Style::kOutlier;
    const std::vector<float> values = RandomFloats(random, inputs, style);
    p.x.insert(p.x.end(), values.begin(), values.end());
  }
  p.tree = arith::MakeTreeOfRank(arith::LinearTreeShape(type, inputs), choice.ranks, choice.rank);
  p.expected.resize(size_t{kRowsMax} * outputs);
  EXPECT_TRUE(arith::LinearReference({type, outputs, inputs, p.stored.data()}, p.tree, p.x.data(), kRowsMax,
                                     p.expected.data()));
  p.packed = PackedMatrix(type, outputs, inputs);
  p.packed.PackPanels(p.stored.data(), {}, 0, p.packed.panels());
  return p;
}

QuantizedRows Quantize(const KernelTable& table, const Problem& p) {
  QuantizedRows rows(kRowsMax, p.inputs);
  for (uint32_t i = 0; i < kRowsMax; ++i)
    EXPECT_TRUE(table.quantize_row(&p.x[size_t{i} * p.inputs], p.inputs, rows.row(i)));
  return rows;
}

// Runs `linear` for rows [first, first + m) and panels [begin, end) and compares every element of y with the law, and
// every element that must not be written with what was there.
template <class LinearFunction>
::testing::AssertionResult Equals(const Problem& p, const QuantizedRows& quantized, uint32_t first, uint32_t m,
                                  uint32_t begin, uint32_t end, LinearFunction linear) {
  const size_t y_stride = p.outputs + 5;
  std::vector<float> y(m * y_stride, kUntouched), expected = y;
  LinearCall call;
  call.weights = &p.packed;
  call.tree = p.tree;
  call.m = m;
  call.x = &p.x[size_t{first} * p.inputs];
  call.x_stride = p.inputs;
  call.quantized = &quantized;
  call.quantized_row = first;
  call.y = y.data();
  call.y_stride = y_stride;
  linear(call, begin, end);
  const uint32_t column_end = std::min(end * kernels::kPanelRows, p.outputs);
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t n = begin * kernels::kPanelRows; n < column_end; ++n)
      expected[i * y_stride + n] = p.expected[size_t{first + i} * p.outputs + n];
  if (std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0) return ::testing::AssertionSuccess();
  size_t at = 0;
  while (std::memcmp(&y[at], &expected[at], sizeof(float)) == 0) ++at;
  return ::testing::AssertionFailure() << arith::Format(p.type).name << " K " << p.inputs << " N " << p.outputs << " m "
                                       << m << " row " << at / y_stride << " output " << at % y_stride << ": " << y[at]
                                       << ", the law gives " << expected[at];
}

void CheckEveryShape(const Problem& p) {
  for (const Isa isa : kernels::AvailableIsas()) {
    const KernelTable& table = kernels::Kernels(isa);
    ASSERT_EQ(table.isa, isa);
    SCOPED_TRACE(kernels::IsaName(isa));
    const QuantizedRows quantized = arith::Format(p.type).quantized ? Quantize(table, p) : QuantizedRows();
    const uint32_t panels = p.packed.panels();
    for (const uint32_t m : kRowCounts) ASSERT_TRUE(Equals(p, quantized, 0, m, 0, panels, table.linear));
    // Parts of the rows and of the panels, as threads and batches take them.
    ASSERT_TRUE(Equals(p, quantized, 7, 5, 0, panels, table.linear));
    ASSERT_TRUE(Equals(p, quantized, 128, 1, 0, panels, table.linear));
    for (uint32_t begin = 0; begin < panels; ++begin)
      ASSERT_TRUE(Equals(p, quantized, 3, 9, begin, begin + 1, table.linear));
    ASSERT_TRUE(Equals(p, quantized, 0, 4, 1, 1, table.linear));
    if (panels > 2) {
      ASSERT_TRUE(Equals(p, quantized, 0, 33, 1, panels, table.linear));
    }
  }
}

class LinearOfType : public ::testing::TestWithParam<int> {
 protected:
  WeightType type() const { return static_cast<WeightType>(GetParam()); }
  // Numbers of inputs that the type can have.
  std::vector<uint32_t> Inputs() const {
    switch (arith::Format(type()).block_elements) {
      case 1:
        return {1, 7, 64, 577, 1536};
      case 32:
        return {32, 96, 576, 640, 1536};
      default:
        return {256, 1024, 1536, 2048};
    }
  }
};

TEST_P(LinearOfType, equals_the_law_for_every_shape) {
  uint64_t seed = 1;
  for (const uint32_t inputs : Inputs()) {
    const uint32_t outputs = inputs == 576 || inputs == 577 ? 83 : 39;
    ASSERT_NO_FATAL_FAILURE(CheckEveryShape(MakeProblem(type(), outputs, inputs, {}, seed++, Style::kPlain)));
  }
}

TEST_P(LinearOfType, equals_the_law_with_codes_and_scales_at_their_extremes) {
  ASSERT_NO_FATAL_FAILURE(CheckEveryShape(MakeProblem(type(), 24, 512, {}, 100, Style::kExtreme)));
}

TEST_P(LinearOfType, equals_the_law_in_the_subtree_of_a_rank) {
  for (const TreeChoice choice : {TreeChoice{2, 1}, TreeChoice{4, 2}, TreeChoice{8, 7}})
    ASSERT_NO_FATAL_FAILURE(CheckEveryShape(MakeProblem(type(), 20, 2048, choice, 200 + choice.ranks, Style::kPlain)));
}

TEST_P(LinearOfType, unpacked_row_equals_dequantize) {
  const uint32_t inputs = 768, outputs = 37;
  Random random(300);
  const std::vector<uint8_t> stored = RandomWeights(random, type(), outputs, inputs, Style::kPlain);
  std::vector<uint32_t> order(outputs);
  std::iota(order.begin(), order.end(), 0u);
  std::reverse(order.begin(), order.end());
  for (const bool reversed : {false, true}) {
    PackedMatrix packed(type(), outputs, inputs);
    // Panels in two parts, the later first, as two threads may.
    packed.PackPanels(stored.data(), reversed ? std::span<const uint32_t>(order) : std::span<const uint32_t>(), 1,
                      packed.panels());
    packed.PackPanels(stored.data(), reversed ? std::span<const uint32_t>(order) : std::span<const uint32_t>(), 0, 1);
    std::vector<float> row(inputs), expected(inputs);
    for (uint32_t n = 0; n < outputs; ++n) {
      packed.UnpackRow(n, row.data());
      arith::Dequantize(type(), &stored[arith::StoredBytes(type(), inputs) * (reversed ? order[n] : n)], inputs,
                        expected.data());
      ASSERT_EQ(std::memcmp(row.data(), expected.data(), inputs * sizeof(float)), 0) << "row " << n;
    }
    EXPECT_LE(packed.panel_bytes(), 1.25 * 16 * arith::StoredBytes(type(), inputs));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LinearOfType, ::testing::Range(0, arith::kWeightTypeCount), [](const auto& info) {
  return std::string(arith::Format(static_cast<WeightType>(info.param)).name);
});

TEST(QuantizeRow, equals_the_law) {
  for (const Isa isa : kernels::AvailableIsas()) {
    const KernelTable& table = kernels::Kernels(isa);
    Random random(7);
    for (const uint32_t columns : {32u, 64u, 576u, 1536u, 544u}) {
      for (const Style style : kStyles) {
        std::vector<float> x = RandomFloats(random, columns, style);
        for (uint32_t i = 0; i < 32; ++i) x[i] *= 0x1p-110f;  // a block that counts as zero
        QuantizedRows rows(2, columns);
        const arith::QuantizedRow actual = rows.row(1);
        std::vector<int8_t> codes(columns);
        std::vector<float> scales(columns / 32), sums(columns / 32);
        std::vector<int32_t> halves(columns / 16);
        ASSERT_TRUE(arith::QuantizeRow(x.data(), columns, {codes.data(), scales.data(), sums.data(), halves.data()}));
        ASSERT_TRUE(table.quantize_row(x.data(), columns, actual));
        EXPECT_EQ(std::memcmp(actual.codes, codes.data(), columns), 0);
        EXPECT_EQ(std::memcmp(actual.scales, scales.data(), columns / 8), 0);
        EXPECT_EQ(std::memcmp(actual.scaled_sums, sums.data(), columns / 8), 0);
        EXPECT_EQ(std::memcmp(actual.half_sums, halves.data(), columns / 4), 0);
      }
    }
  }
}

TEST(QuantizeRow, refuses_nan_and_infinity_anywhere) {
  for (const Isa isa : kernels::AvailableIsas()) {
    const KernelTable& table = kernels::Kernels(isa);
    QuantizedRows rows(1, 576);
    for (const float bad : {__builtin_nanf(""), -__builtin_nanf(""), __builtin_inff(), -__builtin_inff()}) {
      for (uint32_t at = 0; at < 576; at += 5) {
        std::vector<float> x(576, 1.0f);
        x[at] = bad;
        EXPECT_FALSE(table.quantize_row(x.data(), 576, rows.row(0))) << kernels::IsaName(isa) << " " << at;
      }
    }
  }
}

// The arm that a benchmark compares the law with does the whole product: every output is the law's to rounding, and it
// is an order of its own.
TEST(FreeOrder, is_right_to_rounding_and_not_the_law) {
  for (const WeightType type :
       {WeightType::kF32, WeightType::kF16, WeightType::kBf16, WeightType::kQ4_0, WeightType::kQ4_1, WeightType::kQ5_0,
        WeightType::kQ5_1, WeightType::kQ8_0, WeightType::kQ4_K, WeightType::kQ5_K, WeightType::kQ6_K}) {
    const Problem p = MakeProblem(type, 70, 1536, {}, 500, Style::kPlain);
    for (const Isa isa : kernels::AvailableIsas()) {
      const KernelTable& table = kernels::Kernels(isa);
      SCOPED_TRACE(std::string(kernels::IsaName(isa)) + " " + std::string(arith::Format(type).name));
      const QuantizedRows quantized = arith::Format(type).quantized ? Quantize(table, p) : QuantizedRows();
      for (const uint32_t m : {1u, 2u, 3u, 4u, 8u, 9u}) {
        std::vector<float> y(size_t{m} * p.outputs);
        LinearCall call;
        call.weights = &p.packed;
        call.tree = p.tree;
        call.m = m;
        call.x = p.x.data();
        call.x_stride = p.inputs;
        call.quantized = &quantized;
        call.y = y.data();
        call.y_stride = p.outputs;
        table.linear_free(call, 0, p.packed.panels());
        bool differs = false;
        for (uint32_t row = 0; row < m; ++row) {
          const float* expected = &p.expected[size_t{row} * p.outputs];
          float largest = 0;
          for (uint32_t n = 0; n < p.outputs; ++n) largest = std::max(largest, std::fabs(expected[n]));
          for (uint32_t n = 0; n < p.outputs; ++n) {
            const float got = y[size_t{row} * p.outputs + n];
            ASSERT_NEAR(got, expected[n], 1e-4f * largest) << "m " << m << " row " << row << " output " << n;
            differs = differs || got != expected[n];
          }
        }
        EXPECT_TRUE(differs) << "m " << m;
      }
    }
  }
}

TEST(NegativeControl, a_reduction_split_by_batch_and_threads_is_caught) {
  for (const WeightType type :
       {WeightType::kF32, WeightType::kF16, WeightType::kQ4_1, WeightType::kQ8_0, WeightType::kQ6_K}) {
    const Problem p = MakeProblem(type, 48, 1536, {}, 400, Style::kPlain);
    for (const Isa isa : kernels::AvailableIsas()) {
      const KernelTable& table = kernels::Kernels(isa);
      const QuantizedRows quantized = arith::Format(type).quantized ? Quantize(table, p) : QuantizedRows();
      const auto control = [&table](uint32_t threads) {
        return [&table, threads](const LinearCall& call, uint32_t begin, uint32_t end) {
          kernels::ControlLinear(table, call, threads, begin, end);
        };
      };
      // The arm under test is a working matrix product: with the law's own tree it passes this very comparison.
      ASSERT_TRUE(Equals(p, quantized, 0, 3, 0, p.packed.panels(), table.linear));
      EXPECT_FALSE(Equals(p, quantized, 0, 3, 0, p.packed.panels(), control(1)));
      EXPECT_FALSE(Equals(p, quantized, 0, 1, 0, p.packed.panels(), control(2)));
    }
  }
}

}  // namespace
}  // namespace samebit::conformance
