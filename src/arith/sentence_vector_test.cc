#include "arith/sentence_vector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::Random;

TEST(AddEmbeddings, adds_the_token_type_first_and_the_position_last) {
  // 2^24 + 1 is halfway and rounds to even: the order shows.
  const float word = 0x1p24f, type = 1.0f, position = 1.0f;
  float out = 0;
  AddEmbeddings(&word, &type, &position, 1, &out);
  EXPECT_EQ(out, 0x1p24f);
  AddEmbeddings(&type, &position, &word, 1, &out);
  EXPECT_EQ(out, 0x1p24f + 2);
}

TEST(Mean, is_the_correctly_rounded_one_of_many_tokens) {
  Random random(61);
  const uint32_t n = 33, tokens = 512;
  std::vector<double> sums(n);
  std::vector<long double> exact(n);
  for (uint32_t t = 0; t < tokens; ++t) {
    const std::vector<float> row = random.Normals(n, 3.0f);
    AddToMean(row.data(), n, sums.data());
    for (uint32_t i = 0; i < n; ++i) exact[i] += row[i];
  }
  std::vector<float> out(n);
  FinishMean(sums.data(), tokens, n, out.data());
  for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(out[i], static_cast<float>(exact[i] / tokens));
}

TEST(Mean, of_one_token_is_its_row) {
  const std::vector<float> row = Random(62).Normals(40);
  std::vector<double> sums(40);
  std::vector<float> out(40);
  AddToMean(row.data(), 40, sums.data());
  FinishMean(sums.data(), 1, 40, out.data());
  EXPECT_EQ(out, row);
}

TEST(NormalizeLength, error_against_binary64_is_under_3_ulp) {
  Random random(63);
  for (uint32_t n : {1u, 16u, 17u, 384u, 768u, 4096u}) {
    const std::vector<float> x = random.Normals(n, 0.3f);
    std::vector<float> out(n);
    ASSERT_TRUE(NormalizeLength(x.data(), n, out.data()));
    double squares = 0;
    for (float value : x) squares += double{value} * value;
    for (uint32_t i = 0; i < n; ++i) ASSERT_LT(testing::UlpError(out[i], x[i] / std::sqrt(squares)), 3.0) << n;
  }
}

TEST(NormalizeLength, leaves_zero_at_zero_and_works_in_place) {
  std::vector<float> zero(20, 0.0f);
  EXPECT_TRUE(NormalizeLength(zero.data(), 20, zero.data()));
  EXPECT_EQ(zero, std::vector<float>(20, 0.0f));
  std::vector<float> two = {3.0f, -4.0f};
  EXPECT_TRUE(NormalizeLength(two.data(), 2, two.data()));
  EXPECT_EQ(two, (std::vector<float>{3.0f / 5.0f, -4.0f / 5.0f}));
}

TEST(NormalizeLength, refuses_a_vector_that_is_not_finite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    std::vector<float> x(20, 1.0f), out(20);
    x[17] = bad;
    EXPECT_FALSE(NormalizeLength(x.data(), 20, out.data()));
  }
}

}  // namespace
}  // namespace samebit::arith
