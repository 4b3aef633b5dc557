#include "arith/mixture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "arith/test_support.h"

namespace samebit::arith {
namespace {

TEST(ChooseExperts, takes_the_largest_ties_by_smaller_id_ascending) {
  const float logits[] = {1.0f, 5.0f, 3.0f, 5.0f, 3.0f, -1.0f, 3.0f};
  EXPECT_EQ(ChooseExperts(logits, 7, 1), (std::vector<uint32_t>{1}));
  EXPECT_EQ(ChooseExperts(logits, 7, 3), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(ChooseExperts(logits, 7, 4), (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(ChooseExperts(logits, 7, 9).size(), 7u);
  const float zeros[] = {0.0f, -0.0f, 0.0f};
  EXPECT_EQ(ChooseExperts(zeros, 3, 2), (std::vector<uint32_t>{0, 1}));
}

TEST(AddExpert, is_one_fma_per_element) {
  testing::Random random(35);
  auto out = random.Normals(100);
  const auto before = out, expert = random.Normals(100);
  AddExpert(out.data(), expert.data(), 0.3f, 100);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(BitsOf(out[i]), BitsOf(std::fma(0.3f, expert[i], before[i])));
}

TEST(AddResidual, is_one_addition_per_element) {
  testing::Random random(36);
  auto x = random.Normals(100);
  const auto before = x, y = random.Normals(100);
  AddResidual(x.data(), y.data(), 100);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(x[i], before[i] + y[i]);
}

}  // namespace
}  // namespace samebit::arith
