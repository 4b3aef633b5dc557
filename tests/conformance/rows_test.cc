// Rules N, R, F, M, S, P: the row functions of every table equal arith bit for bit.
#include <gtest/gtest.h>

#include <cstring>

#include "arith/elementary.h"
#include "arith/mixture.h"
#include "arith/norm.h"
#include "arith/rope.h"
#include "arith/sampling.h"
#include "kernels/kernels.h"
#include "random_data.h"

namespace samebit::conformance {
namespace {

using kernels::Isa;
using kernels::KernelTable;

constexpr uint32_t kLengths[] = {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 576, 640, 1000, 1536};

// Any NaN equals any NaN: a NaN is an error of its request, not a value.
::testing::AssertionResult SameBits(const std::vector<float>& actual, const std::vector<float>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (actual[i] != actual[i] && expected[i] != expected[i]) continue;
    if (std::memcmp(&actual[i], &expected[i], sizeof(float)) != 0)
      return ::testing::AssertionFailure() << "element " << i << ": " << actual[i] << ", the law gives " << expected[i];
  }
  return ::testing::AssertionSuccess();
}

class Rows : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { ASSERT_EQ(table_.isa, GetParam()); }
  const KernelTable& table_ = kernels::Kernels(GetParam());
};

// The whole exponent range of binary32, all signs, the edges of exp among them.
std::vector<float> EveryMagnitude() {
  std::vector<float> values = {0.0f,  -0.0f, -87.3f,  -87.29999f, -87.30001f, 88.72f, 88.73f,
                               89.0f, 90.0f, -103.9f, -104.0f,    -105.0f,    1e30f,  -1e30f};
  for (uint64_t bits = 0; bits < 0xff800000ull; bits += 0x10457) {
    const float value = arith::FloatOf(static_cast<uint32_t>(bits));
    if (value - value == 0) values.push_back(value);
  }
  return values;
}

TEST_P(Rows, rms_norm_equals_the_law) {
  Random random(11);
  for (const uint32_t n : kLengths) {
    for (const Style style : kStyles) {
      const std::vector<float> x = RandomFloats(random, n, style), w = RandomFloats(random, n, Style::kPlain);
      std::vector<float> actual(n), expected(n), in_place = x;
      const bool finite = arith::RmsNorm(x.data(), w.data(), n, 1e-5f, expected.data());
      EXPECT_EQ(table_.rms_norm(x.data(), w.data(), n, 1e-5f, actual.data()), finite);
      EXPECT_TRUE(SameBits(actual, expected)) << "n " << n;
      table_.rms_norm(in_place.data(), w.data(), n, 1e-5f, in_place.data());
      EXPECT_TRUE(SameBits(in_place, expected)) << "n " << n;
    }
  }
}

TEST_P(Rows, rms_norm_reports_nan_and_infinity) {
  std::vector<float> x(100, 1.0f), w(100, 1.0f), out(100);
  EXPECT_TRUE(table_.rms_norm(x.data(), w.data(), 100, 1e-5f, out.data()));
  for (const float bad : {__builtin_nanf(""), __builtin_inff(), 1e30f}) {
    x[99] = bad;
    EXPECT_FALSE(table_.rms_norm(x.data(), w.data(), 100, 1e-5f, out.data()));
  }
}

TEST_P(Rows, layer_norm_equals_the_law) {
  Random random(18);
  for (const uint32_t n : kLengths) {
    for (const Style style : kStyles) {
      const std::vector<float> x = RandomFloats(random, n, style), w = RandomFloats(random, n, Style::kPlain),
                               b = RandomFloats(random, n, Style::kPlain);
      std::vector<float> actual(n), expected(n), in_place = x;
      const bool finite = arith::LayerNorm(x.data(), w.data(), b.data(), n, 1e-12f, expected.data());
      EXPECT_EQ(table_.layer_norm(x.data(), w.data(), b.data(), n, 1e-12f, actual.data()), finite);
      EXPECT_TRUE(SameBits(actual, expected)) << "n " << n;
      table_.layer_norm(in_place.data(), w.data(), b.data(), n, 1e-12f, in_place.data());
      EXPECT_TRUE(SameBits(in_place, expected)) << "n " << n;
    }
  }
}

TEST_P(Rows, layer_norm_reports_nan_and_infinity) {
  std::vector<float> x(100, 1.0f), w(100, 1.0f), out(100);
  EXPECT_TRUE(table_.layer_norm(x.data(), w.data(), w.data(), 100, 1e-5f, out.data()));
  for (const float bad : {__builtin_nanf(""), __builtin_inff(), 1e30f}) {
    x[99] = bad;
    EXPECT_FALSE(table_.layer_norm(x.data(), w.data(), w.data(), 100, 1e-5f, out.data()));
  }
}

TEST_P(Rows, plain_activations_equal_the_law_over_every_magnitude) {
  std::vector<float> x = EveryMagnitude();
  for (int i = -160 * 64; i <= 160 * 64; ++i) x.push_back(static_cast<float>(i) / 640.0f);  // -16 to 16
  x.insert(x.end(), {15.0f, -15.0f, 14.99999f, -14.99999f, __builtin_nanf(""), __builtin_inff(), -__builtin_inff()});
  for (const auto n : {static_cast<uint32_t>(x.size()), 1u, 15u, 16u, 17u, 33u}) {
    std::vector<float> actual(n), expected(n);
    for (uint32_t i = 0; i < n; ++i) expected[i] = arith::GeluErf(x[x.size() - n + i]);
    table_.gelu_erf(&x[x.size() - n], n, actual.data());
    EXPECT_TRUE(SameBits(actual, expected));
    for (uint32_t i = 0; i < n; ++i) expected[i] = arith::GeluTanh(x[x.size() - n + i]);
    table_.gelu_tanh(&x[x.size() - n], n, actual.data());
    EXPECT_TRUE(SameBits(actual, expected));
  }
}

TEST_P(Rows, rope_equals_the_law) {
  Random random(12);
  for (const uint32_t head_size : {16u, 32u, 64u, 80u, 96u, 128u, 256u}) {
    for (const Style style : kStyles) {
      const std::vector<float> x = RandomFloats(random, head_size, style);
      std::vector<float> cosines(head_size / 2), sines(head_size / 2), actual = x, expected = x;
      arith::RopeAngles(arith::RopeFrequencies(1e4, head_size, {}), random.Below(5000), cosines.data(), sines.data());
      arith::ApplyRope(expected.data(), head_size, cosines.data(), sines.data());
      table_.apply_rope(actual.data(), head_size, cosines.data(), sines.data());
      EXPECT_TRUE(SameBits(actual, expected)) << "head size " << head_size;
    }
  }
}

TEST_P(Rows, sums_and_products_equal_the_law) {
  Random random(13);
  for (const uint32_t n : kLengths) {
    for (const Style style : kStyles) {
      const std::vector<float> x = RandomFloats(random, n, style), y = RandomFloats(random, n, style);
      std::vector<float> actual(n), expected = x;
      arith::AddResidual(expected.data(), y.data(), n);
      table_.add(x.data(), y.data(), n, actual.data());
      EXPECT_TRUE(SameBits(actual, expected));
      for (uint32_t i = 0; i < n; ++i) expected[i] = x[i] * 0.125977f;
      table_.scale(x.data(), 0.125977f, n, actual.data());
      EXPECT_TRUE(SameBits(actual, expected));
      actual = x;
      table_.scale(actual.data(), 0.125977f, n, actual.data());
      EXPECT_TRUE(SameBits(actual, expected));
    }
  }
}

TEST_P(Rows, gated_activations_equal_the_law_over_every_magnitude) {
  const std::vector<float> gate = EveryMagnitude();
  Random random(14);
  const std::vector<float> up = RandomFloats(random, gate.size(), Style::kPlain);
  const auto n = static_cast<uint32_t>(gate.size());
  std::vector<float> actual(n), expected(n);
  for (uint32_t i = 0; i < n; ++i) expected[i] = arith::Silu(gate[i]) * up[i];
  table_.silu_multiply(gate.data(), up.data(), n, actual.data());
  EXPECT_TRUE(SameBits(actual, expected));
  for (uint32_t i = 0; i < n; ++i) expected[i] = arith::GeluTanh(gate[i]) * up[i];
  table_.gelu_multiply(gate.data(), up.data(), n, actual.data());
  EXPECT_TRUE(SameBits(actual, expected));
  for (const uint32_t part : kLengths) {
    std::vector<float> short_actual(part), short_expected(part);
    for (uint32_t i = 0; i < part; ++i) short_expected[i] = arith::Silu(up[i]) * up[i + 1];
    table_.silu_multiply(up.data(), up.data() + 1, part, short_actual.data());
    EXPECT_TRUE(SameBits(short_actual, short_expected));
  }
}

TEST_P(Rows, sampling_weights_equal_the_law) {
  Random random(15);
  for (const uint32_t n : {1u, 15u, 16u, 17u, 1000u, 49152u, 270000u}) {
    for (const float spread : {0.01f, 10.0f, 200.0f}) {
      std::vector<float> logits = RandomFloats(random, n, Style::kPlain);
      float max = -1e30f;
      for (float& logit : logits) {
        logit *= spread;
        max = arith::Max(logit, max);
      }
      for (const float inverse_temperature : {1.0f, 1.25f, 0.3f, 100.0f}) {
        std::vector<uint32_t> actual(n + 1, 77), expected(n + 1, 77);
        uint64_t total = 0;
        for (uint32_t i = 0; i < n; ++i)
          total += expected[i] = arith::SamplingWeight(logits[i], max, inverse_temperature);
        EXPECT_EQ(table_.sampling_weights(logits.data(), n, max, inverse_temperature, actual.data()), total);
        EXPECT_EQ(actual, expected);
      }
    }
  }
}

TEST_P(Rows, first_candidate_equals_the_law) {
  Random random(16);
  for (const uint32_t n : {1u, 5u, 16u, 33u, 64u, 1000u, 4099u}) {
    for (const Style style : kStyles) {
      std::vector<float> logits = RandomFloats(random, n, style);
      for (int negative = 0; negative < 2; ++negative) {
        if (negative == 1)
          for (float& logit : logits)
            logit = -(logit < 0 ? -logit : logit);  // the largest may be a zero of either sign
        uint64_t expected = 0;
        for (uint32_t i = 0; i < n; ++i) expected = std::max(expected, arith::CandidateKey(logits[i], i));
        EXPECT_EQ(table_.largest_candidate(logits.data(), n), expected);
      }
    }
  }
}

TEST_P(Rows, log_softmax_equals_the_law) {
  Random random(17);
  for (const uint32_t n : {1u, 16u, 17u, 1023u, 1024u, 1025u, 5000u, 49152u}) {
    for (const Style style : {Style::kPlain, Style::kOutlier, Style::kSparse}) {
      std::vector<float> logits = RandomFloats(random, n, style);
      for (int negative = 0; negative < 2; ++negative) {
        if (negative == 1)
          for (float& logit : logits) logit = -(logit < 0 ? -logit : logit);
        const arith::LogSoftmax expected = arith::LogSoftmaxOf(logits.data(), n);
        const arith::LogSoftmax actual = table_.log_softmax(logits.data(), n);
        EXPECT_EQ(std::memcmp(&actual.max, &expected.max, sizeof(float)), 0);
        EXPECT_EQ(std::memcmp(&actual.log_total, &expected.log_total, sizeof(double)), 0);
      }
    }
  }
}

TEST_P(Rows, all_finite_finds_nan_and_infinity_anywhere) {
  for (const uint32_t n : kLengths) {
    std::vector<float> x(n, -3.0f);
    EXPECT_TRUE(table_.all_finite(x.data(), n));
    for (uint32_t at = 0; at < n; ++at) {
      for (const float bad : {__builtin_nanf(""), -__builtin_nanf(""), __builtin_inff(), -__builtin_inff()}) {
        x[at] = bad;
        EXPECT_FALSE(table_.all_finite(x.data(), n));
      }
      x[at] = 3.4e38f;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Rows, ::testing::ValuesIn(kernels::AvailableIsas()),
                         [](const auto& info) { return std::string(kernels::IsaName(info.param)); });

}  // namespace
}  // namespace samebit::conformance
