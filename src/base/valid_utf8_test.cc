#include "base/valid_utf8.h"

#include <gtest/gtest.h>

namespace samebit {
namespace {

TEST(ValidUtf8, leaves_whole_characters_alone) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82";
  EXPECT_TRUE(IsValidUtf8(text));
  EXPECT_EQ(ValidUtf8(text), text);
}

TEST(ValidUtf8, replaces_each_byte_that_belongs_to_no_character) {
  for (const char* broken : {"\xFF", "\xC3", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(IsValidUtf8(broken));
    std::string expected;
    for (const char* c = broken; *c != 0; ++c) expected += "\xEF\xBF\xBD";
    EXPECT_EQ(ValidUtf8(std::string("x") + broken + "y"), "x" + expected + "y");
  }
}

}  // namespace
}  // namespace samebit
