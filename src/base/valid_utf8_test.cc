#include "base/valid_utf8.h"

#include <gtest/gtest.h>

namespace samebit {
namespace {

TEST(ValidUtf8, keeps_characters_and_replaces_the_rest) {
  EXPECT_EQ(ValidUtf8("a é 漢 🌧"), "a é 漢 🌧");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(ValidUtf8("\xc0\xaf"), bad + bad);                      // over-long
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(ValidUtf8("x\xe6\xbc"), "x" + bad + bad);               // cut
  EXPECT_EQ(ValidUtf8("\xc3"), bad);                                // cut
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // over 0x10FFFF
}

}  // namespace
}  // namespace samebit
