#include <cmath>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "verify/json_writer.h"
#include "verify/strict_json.h"
#include "verify/valid_utf8.h"

namespace samebit::verify {
namespace {

TEST(StrictJson, refuses_a_key_that_stands_twice_at_any_depth) {
  EXPECT_TRUE(ParseStrictJson(R"({"a":{"b":1},"b":[{"a":1},{"a":2}]})").ok());
  for (const char* text : {R"({"a":1,"a":2})", R"({"x":[{"k":1,"j":2,"k":3}]})", R"({"a":1,"\u0061":2})"}) {
    const auto value = ParseStrictJson(text);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(value.error().code, ErrorCode::kMalformed);
    EXPECT_NE(value.error().message.find("twice"), std::string::npos) << value.error().message;
  }
}

TEST(StrictJson, refuses_what_is_not_one_value) {
  for (const char* text : {"", "{", "{} {}", "nul", "{\"a\":01}", "[1,]", "\"\xff\"", "{\"a\" 1}"})
    EXPECT_FALSE(ParseStrictJson(text).ok()) << text;
  EXPECT_TRUE(ParseStrictJson(" [1, 2] \n").ok());
}

TEST(StrictJson, refuses_depth_without_end) {
  EXPECT_TRUE(ParseStrictJson(std::string(20, '[') + std::string(20, ']')).ok());
  EXPECT_FALSE(ParseStrictJson(std::string(limits::kJsonDepthMax + 1, '[')).ok());
  EXPECT_FALSE(ParseStrictJson(std::string(1'000'000, '[')).ok());
}

TEST(JsonWriter, writes_numbers_in_their_shortest_exact_form) {
  JsonWriter out(JsonWriter::Layout::kCompact);
  out.BeginArray();
  out.Number(0.1), out.Number(0.1f), out.Number(1e300), out.Number(-0.0), out.Number(NAN), out.Unsigned(UINT64_MAX);
  out.EndArray();
  EXPECT_EQ(out.text(), "[0.1,0.1,1e+300,-0,null,18446744073709551615]");
}

TEST(JsonWriter, its_text_is_read_back_whatever_the_strings_hold) {
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.BeginObject();
  out.Key("a \"b\"\n\x01\\"), out.String("\x1b[31m \xff é \xed\xa0\x80");
  out.Key("empty"), out.BeginArray(), out.EndArray();
  out.EndObject();
  const auto value = ParseStrictJson(out.text());
  ASSERT_TRUE(value.ok()) << value.error().message << out.text();
  EXPECT_NE(FieldOf(value->get_object(), "a \"b\"\n\x01\\"), nullptr);
}

TEST(ValidUtf8, keeps_characters_and_replaces_the_rest) {
  EXPECT_EQ(ValidUtf8("a é 漢 🌧"), "a é 漢 🌧");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(ValidUtf8("\xc0\xaf"), bad + bad);                     // over-long
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), bad + bad + bad);           // surrogate
  EXPECT_EQ(ValidUtf8("x\xe6\xbc"), "x" + bad + bad);              // cut
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // over 0x10FFFF
}

TEST(MarkupText, leaves_nothing_that_is_markup_or_forbidden) {
  EXPECT_EQ(MarkupText("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(MarkupText(std::string("\x00\x1b\n", 3)), "\xef\xbf\xbd\xef\xbf\xbd\n");
  EXPECT_EQ(MarkupText("\xef\xbf\xbf"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace samebit::verify
