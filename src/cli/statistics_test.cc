// Ranks of repeated measurements, against the tables of the sign test.
#include "cli/statistics.h"

#include <gtest/gtest.h>

namespace samebit::cli {
namespace {

// The ratios 1, 2, ..., count: the bounds then are their own ranks.
RatioRange OfRanks(size_t count) {
  std::vector<double> dividend, divisor;
  for (size_t i = count; i > 0; --i) {
    dividend.push_back(3.0 * static_cast<double>(i));
    divisor.push_back(3.0);
  }
  return MedianRatio(dividend, divisor);
}

TEST(Statistics, takes_the_middle_and_the_least) {
  EXPECT_EQ(Median({5}), 5);
  EXPECT_EQ(Median({9, 1, 4}), 4);
  EXPECT_EQ(Median({8, 1, 2, 4}), 3);
  EXPECT_EQ(Best({8, 1, 2, 4}), 1);
}

TEST(Statistics, bounds_of_a_median_are_those_of_the_sign_test) {
  const struct {
    size_t count;
    double low, confidence;
  } table[] = {{1, 1, 0},       {2, 1, 0.5},      {3, 1, 0.75},     {5, 1, 0.9375},  {6, 1, 0.9688},
               {8, 1, 0.9922},  {9, 2, 0.9609},   {10, 2, 0.9785},  {15, 4, 0.9648}, {20, 6, 0.9586},
               {25, 8, 0.9567}, {50, 18, 0.9672}, {100, 40, 0.9648}};
  for (const auto& [count, low, confidence] : table) {
    const RatioRange found = OfRanks(count);
    EXPECT_EQ(found.median, (static_cast<double>(count) + 1) / 2) << count;
    EXPECT_EQ(found.low, low) << count;
    EXPECT_EQ(found.high, static_cast<double>(count) + 1 - low) << count;
    EXPECT_NEAR(found.confidence, confidence, 5e-5) << count;
  }
}

TEST(Statistics, a_million_pairs_neither_overflow_nor_vanish) {
  const RatioRange found = OfRanks(1'000'000);  // half of them less 1.96 standard deviations of 500
  EXPECT_NEAR(found.low, 499'020, 2);
  EXPECT_NEAR(found.high, 500'981, 2);
}

TEST(Statistics, pairs_stay_together) {
  const RatioRange found = MedianRatio({10, 200, 3000}, {10, 100, 1000});
  EXPECT_EQ(found.median, 2);
  EXPECT_EQ(found.low, 1);
  EXPECT_EQ(found.high, 3);
}

}  // namespace
}  // namespace samebit::cli
