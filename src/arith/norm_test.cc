#include "arith/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::Random;

TEST(FoldLanes, adds_eight_apart_then_four_two_one) {
  float lanes[kLanes];
  for (uint32_t j = 0; j < kLanes; ++j) lanes[j] = 1.0f / static_cast<float>(3 * j + 1);
  const auto pair = [&](int j) { return lanes[j] + lanes[j + 8]; };
  const float expected = ((pair(0) + pair(4)) + (pair(2) + pair(6))) + ((pair(1) + pair(5)) + (pair(3) + pair(7)));
  EXPECT_EQ(BitsOf(FoldLanes(lanes)), BitsOf(expected));
}

TEST(RmsNorm, error_against_binary64_is_under_5_ulp) {
  Random random(19);
  for (uint32_t n : {1u, 15u, 16u, 17u, 64u, 576u, 640u, 4096u}) {
    const auto x = random.Normals(n, 5.0f), w = random.Normals(n);
    std::vector<float> out(n);
    ASSERT_TRUE(RmsNorm(x.data(), w.data(), n, 1e-5f, out.data()));
    double squares = 0;
    for (float value : x) squares += double{value} * value;
    const double r = 1 / std::sqrt(squares / n + double{1e-5f});
    for (uint32_t i = 0; i < n; ++i) ASSERT_LT(testing::UlpError(out[i], x[i] * r * w[i]), 5.0) << n;
  }
}

TEST(RmsNorm, lane_j_takes_every_16th_element) {
  Random random(20);
  const uint32_t n = 70;
  const auto x = random.Normals(n);
  const std::vector<float> ones(n, 1.0f);
  float lanes[kLanes] = {};
  for (uint32_t j = 0; j < kLanes; ++j)
    for (uint32_t i = j; i < n; i += 16) lanes[j] = std::fma(x[i], x[i], lanes[j]);
  const float r = 1.0f / std::sqrt(FoldLanes(lanes) / 70.0f + 1e-6f);
  std::vector<float> out(n);
  RmsNorm(x.data(), ones.data(), n, 1e-6f, out.data());
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(BitsOf(out[i]), BitsOf(x[i] * r));
}

TEST(RmsNorm, works_in_place) {
  Random random(21);
  auto x = random.Normals(100);
  const auto w = random.Normals(100);
  std::vector<float> out(100);
  RmsNorm(x.data(), w.data(), 100, 1e-5f, out.data());
  RmsNorm(x.data(), w.data(), 100, 1e-5f, x.data());
  EXPECT_EQ(x, out);
}

TEST(RmsNorm, refuses_a_row_that_is_not_finite) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                    std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 1e20f})
    for (uint32_t at = 0; at < 33; ++at) {
      std::vector<float> x(33, 1.0f), out(33);
      const std::vector<float> w(33, 1.0f);
      x[at] = bad;
      EXPECT_FALSE(RmsNorm(x.data(), w.data(), 33, 1e-5f, out.data()));
    }
}

TEST(LayerNorm, error_against_binary64_is_small) {
  Random random(22);
  for (uint32_t n : {2u, 15u, 16u, 17u, 64u, 384u, 768u, 4096u}) {
    auto x = random.Normals(n, 5.0f);
    const auto w = random.Normals(n), b = random.Normals(n);
    for (float& value : x) value += 3.0f;
    std::vector<float> out(n);
    ASSERT_TRUE(LayerNorm(x.data(), w.data(), b.data(), n, 1e-12f, out.data()));
    double sum = 0, squares = 0;
    for (float value : x) sum += value;
    for (float value : x) squares += (value - sum / n) * (value - sum / n);
    const double r = 1 / std::sqrt(squares / n + double{1e-12f});
    for (uint32_t i = 0; i < n; ++i)
      ASSERT_NEAR(out[i], (x[i] - sum / n) * r * w[i] + b[i], 2e-6) << n;
  }
}

TEST(LayerNorm, lane_j_takes_every_16th_element) {
  Random random(23);
  const uint32_t n = 70;
  const auto x = random.Normals(n), w = random.Normals(n), b = random.Normals(n);
  float sums[kLanes] = {}, lanes[kLanes] = {};
  for (uint32_t j = 0; j < kLanes; ++j)
    for (uint32_t i = j; i < n; i += 16) sums[j] += x[i];
  const float mean = FoldLanes(sums) / 70.0f;
  for (uint32_t j = 0; j < kLanes; ++j)
    for (uint32_t i = j; i < n; i += 16) lanes[j] = std::fma(x[i] - mean, x[i] - mean, lanes[j]);
  const float r = 1.0f / std::sqrt(FoldLanes(lanes) / 70.0f + 1e-6f);
  std::vector<float> out(n), in_place = x;
  LayerNorm(x.data(), w.data(), b.data(), n, 1e-6f, out.data());
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(BitsOf(out[i]), BitsOf(std::fma((x[i] - mean) * r, w[i], b[i])));
  LayerNorm(in_place.data(), w.data(), b.data(), n, 1e-6f, in_place.data());
  EXPECT_EQ(in_place, out);
}

TEST(LayerNorm, refuses_a_row_that_is_not_finite) {
  std::vector<float> x(50, 1.0f), w(50, 1.0f), b(50, 0.5f), out(50);
  EXPECT_TRUE(LayerNorm(x.data(), w.data(), b.data(), 50, 1e-5f, out.data()));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    x[33] = bad;
    EXPECT_FALSE(LayerNorm(x.data(), w.data(), b.data(), 50, 1e-5f, out.data()));
  }
}

}  // namespace
}  // namespace samebit::arith
