#include "arith/log_probability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/elementary.h"
#include "arith/norm.h"
#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::Random;

double ExactLogTotal(const std::vector<float>& logits, float max) {
  double total = 0;
  for (float logit : logits) total += std::exp(double{logit} - max);
  return std::log(total);
}

TEST(LogProbability, error_against_binary64_is_under_4e_7_plus_the_last_digit) {
  Random random(32);
  for (uint32_t n : {2u, 15u, 1023u, 1024u, 1025u, 49152u, 262144u})
    for (float spread : {0.01f, 1.0f, 4.0f, 20.0f}) {
      const auto logits = random.Normals(n, spread);
      const LogSoftmax normalizer = LogSoftmaxOf(logits.data(), n);
      const double exact = ExactLogTotal(logits, normalizer.max);
      ASSERT_NEAR(normalizer.log_total, exact, 4e-7) << n << " " << spread;
      for (uint32_t i = 0; i < n; i += 1 + n / 100) {
        const double expected = (double{logits[i]} - normalizer.max) - exact;
        ASSERT_NEAR(LogProbability(normalizer, logits[i]), expected, 4e-7 + std::fabs(expected) * 0x1p-23) << n;
      }
    }
}

TEST(LogProbability, probabilities_sum_to_one) {
  Random random(33);
  const auto logits = random.Normals(49152, 3.0f);
  const LogSoftmax normalizer = LogSoftmaxOf(logits.data(), 49152);
  double sum = 0;
  for (float logit : logits) sum += std::exp(double{LogProbability(normalizer, logit)});
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

TEST(LogProbability, extreme_logits_stay_finite) {
  const float largest = std::numeric_limits<float>::max();
  const float logits[] = {largest, -1e30f, 0.0f, largest / 2};
  const LogSoftmax normalizer = LogSoftmaxOf(logits, 4);
  EXPECT_EQ(normalizer.log_total, 0.0);
  EXPECT_EQ(LogProbability(normalizer, largest), 0.0f);
  EXPECT_EQ(LogProbability(normalizer, 0.0f), -largest);
  const float equal[] = {-1e30f, -1e30f};
  EXPECT_EQ(LogProbability(LogSoftmaxOf(equal, 2), -1e30f), static_cast<float>(std::log(0.5)));
  const float one[] = {-7.0f};
  EXPECT_EQ(LogProbability(LogSoftmaxOf(one, 1), -7.0f), 0.0f);
}

// The rule written a second time: blocks of 1024, 16 lanes, binary64 between the blocks.
TEST(LogProbability, total_is_the_stated_sum) {
  Random random(34);
  const auto logits = random.Normals(2500, 2.0f);
  const LogSoftmax normalizer = LogSoftmaxOf(logits.data(), 2500);
  double total = 0;
  for (uint32_t begin : {0u, 1024u, 2048u}) {
    float lanes[kLanes] = {};
    for (uint32_t i = begin; i < std::min(begin + 1024, 2500u); ++i)
      lanes[i % 16] += ExpNeg(logits[i] - normalizer.max);
    total += FoldLanes(lanes);
  }
  EXPECT_EQ(normalizer.log_total, Log64(total));
}

}  // namespace
}  // namespace samebit::arith
