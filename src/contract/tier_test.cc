#include "contract/tier.h"

#include <gtest/gtest.h>

namespace samebit::contract {
namespace {

TEST(Tier, is_read_by_number_and_by_name) {
  EXPECT_EQ(ParseTier("0"), Tier::kStatistical);
  EXPECT_EQ(ParseTier("statistical"), Tier::kStatistical);
  EXPECT_EQ(ParseTier("1"), Tier::kRequest);
  EXPECT_EQ(ParseTier("request"), Tier::kRequest);
  EXPECT_EQ(ParseTier("2"), Tier::kStrict);
  EXPECT_EQ(ParseTier("strict"), Tier::kStrict);
}

TEST(Tier, refuses_everything_else) {
  for (const char* text : {"", "3", "-1", "01", " 1", "Strict", "2.0", "true"}) EXPECT_FALSE(ParseTier(text)) << text;
}

}  // namespace
}  // namespace samebit::contract
