// Numbers on the command line: the whole text counts, bounds are inclusive, what is printed reads back.
#include "cli/number_text.h"

#include <gtest/gtest.h>

namespace samebit::cli {
namespace {

TEST(NumberText, takes_whole_numbers_within_bounds_only) {
  EXPECT_EQ(ParseWhole("256", 1, 256).value(), 256u);
  EXPECT_EQ(ParseWhole("18446744073709551615", 0, UINT64_MAX).value(), UINT64_MAX);
  for (const char* text :
       {"", "0", "257", "-1", "+1", " 1", "1 ", "1x", "0x10", "1.0", "1e2", "18446744073709551616"}) {
    EXPECT_FALSE(ParseWhole(text, 1, 256).ok()) << text;
  }
  EXPECT_EQ(ParseWhole("x", 1, 256).error().message, "expected a whole number from 1 to 256, found 'x'");
}

TEST(NumberText, takes_finite_decimals_within_bounds_only) {
  EXPECT_EQ(ParseDecimal("0.8", 0, 100).value(), 0.8f);
  EXPECT_EQ(ParseDecimal("1e-3", 0, 1).value(), 1e-3f);
  EXPECT_EQ(ParseDecimal("-2", -2, 2).value(), -2.0f);
  for (const char* text : {"", "nan", "inf", "-0.1", "100.1", "1,5", "0.8f", "hot"}) {
    EXPECT_FALSE(ParseDecimal(text, 0, 100).ok()) << text;
  }
}

TEST(NumberText, takes_token_ids_with_commas) {
  EXPECT_EQ(ParseTokenIds("1, 22,3").value(), (std::vector<TokenId>{1, 22, 3}));
  for (const char* text : {"", ",", "1,", "1,,2", "1;2", "-1", "99999999999"})
    EXPECT_FALSE(ParseTokenIds(text).ok()) << text;
}

TEST(NumberText, decimals_read_back_as_the_same_bits) {
  for (const float value : {0.1f, -1.0f / 3, 1e-38f, 3.4e38f, -0.0f}) {
    const float back = ParseDecimal(Decimal(value), -3.4e38f, 3.4e38f).value();
    EXPECT_EQ(FloatBits(back), FloatBits(value));
  }
  EXPECT_EQ(FloatBits(1.0f), "0x3f800000");
  EXPECT_EQ(Fixed(2.345, 1), "2.3");
}

}  // namespace
}  // namespace samebit::cli
