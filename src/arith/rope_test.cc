#include "arith/rope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::kThinning;
using testing::Random;

TEST(RopeFrequencies, are_the_nearest_binary32_to_the_formula) {
  for (double base : {1e4, 1e5, 5e5, 1e6, 1e7})
    for (uint32_t head : {64u, 80u, 96u, 128u, 256u}) {
      const auto frequencies = RopeFrequencies(base, head, {});
      ASSERT_EQ(frequencies.size(), head / 2);
      for (uint32_t i = 0; i < head / 2; ++i)
        ASSERT_EQ(frequencies[i], static_cast<float>(std::pow(static_cast<long double>(base), -2.0L * i / head)))
            << base << " " << i;
    }
}

TEST(RopeFrequencies, linear_scaling_and_divisors_divide) {
  RopeScale scale{RopeScale::Kind::kLinear, 8};
  const auto plain = RopeFrequencies(1e6, 128, {}), scaled = RopeFrequencies(1e6, 128, scale);
  std::vector<float> divisors(64, 1.0f);
  divisors[10] = 4.0f;
  const auto divided = RopeFrequencies(1e6, 128, {}, divisors);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(scaled[i], plain[i] / 8);  // powers of two: exact
    EXPECT_EQ(divided[i], i == 10 ? plain[i] / 4 : plain[i]);
  }
}

// The published rule of Llama 3.1 (factor 8, low 1, high 4, original context 8192), in long double.
TEST(RopeFrequencies, llama3_scaling_follows_the_published_formula) {
  const RopeScale scale{RopeScale::Kind::kLlama3, 8, 1, 4, 8192};
  const auto frequencies = RopeFrequencies(5e5, 128, scale);
  int kept = 0, divided = 0, between = 0;
  for (int i = 0; i < 64; ++i) {
    const long double frequency = std::pow(5e5L, -2.0L * i / 128);
    const long double turns = 8192 * frequency / (2 * 3.14159265358979323846L);
    long double expected;
    if (turns > 4) {
      expected = frequency, ++kept;
    } else if (turns < 1) {
      expected = frequency / 8, ++divided;
    } else {
      const long double smooth = (turns - 1) / 3;
      expected = (1 - smooth) * frequency / 8 + smooth * frequency, ++between;
    }
    EXPECT_EQ(frequencies[i], static_cast<float>(expected)) << i;
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(divided, 0);
  EXPECT_GT(between, 0);
}

TEST(RopeAngles, cos_and_sin_are_the_nearest_binary32_for_positions_up_to_2_to_the_20) {
  const auto frequencies = RopeFrequencies(1e4, 128, {});
  std::vector<float> cosines(64), sines(64);
  Random random(22);
  uint64_t checked = 0, rounded_differently = 0;
  for (uint64_t t = 0; t < 4000 / kThinning + 3; ++t) {
    const uint32_t position = t == 0 ? 0 : t == 1 ? 1 : t == 2 ? 1 << 20 : random.Below(1 << 20);
    RopeAngles(frequencies, position, cosines.data(), sines.data());
    for (int i = 0; i < 64; ++i) {
      const long double angle = static_cast<float>(position) * frequencies[i];
      ASSERT_LT(testing::UlpError(cosines[i], static_cast<double>(std::cos(angle))), 0.501);
      ASSERT_LT(testing::UlpError(sines[i], static_cast<double>(std::sin(angle))), 0.501);
      rounded_differently += cosines[i] != static_cast<float>(std::cos(angle));
      rounded_differently += sines[i] != static_cast<float>(std::sin(angle));
      checked += 2;
    }
  }
  EXPECT_EQ(rounded_differently, 0u) << "of " << checked;
}

TEST(RopeAngles, position_zero_does_not_rotate) {
  const auto frequencies = RopeFrequencies(1e4, 64, {});
  float cosines[32], sines[32], x[64], before[64];
  RopeAngles(frequencies, 0, cosines, sines);
  Random random(23);
  for (int i = 0; i < 64; ++i) x[i] = before[i] = random.Normal();
  ApplyRope(x, 64, cosines, sines);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(x[i], before[i]);
}

TEST(ApplyRope, turns_half_split_pairs_with_one_fma_each) {
  Random random(24);
  const uint32_t head = 64;
  const auto frequencies = RopeFrequencies(1e4, head, {});
  for (uint32_t position : {1u, 17u, 4095u, 1u << 20}) {
    float cosines[32], sines[32];
    RopeAngles(frequencies, position, cosines, sines);
    auto x = random.Normals(head);
    const auto before = x;
    ApplyRope(x.data(), head, cosines, sines);
    for (uint32_t i = 0; i < 32; ++i) {
      const float a = before[i], b = before[i + 32], ac = a * sines[i], bs = b * sines[i];
      ASSERT_EQ(BitsOf(x[i]), BitsOf(std::fma(a, cosines[i], -bs)));
      ASSERT_EQ(BitsOf(x[i + 32]), BitsOf(std::fma(b, cosines[i], ac)));
      const double length = std::hypot(double{a}, double{b});
      ASSERT_NEAR(std::hypot(double{x[i]}, double{x[i + 32]}), length, length * 3e-7);
    }
  }
}

}  // namespace
}  // namespace samebit::arith
