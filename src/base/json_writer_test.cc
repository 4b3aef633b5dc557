// The JSON that we print is valid whatever stands in a text, and its numbers read back as the same bits.
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json_reader.h"

namespace samebit {
namespace {

TEST(JsonWriter, places_commas_and_nests) {
  JsonWriter json;
  json.BeginObject().Key("a").BeginArray().Number(1).Number(2.5f).Bool(true).EndArray();
  json.Key("b").BeginObject().EndObject().Key("c").Verbatim("[3]").Key("d").Null().EndObject();
  EXPECT_EQ(json.Finish(), R"({"a":[1,2.5,true],"b":{},"c":[3],"d":null})");
}

TEST(JsonWriter, indents_with_a_line_for_each_value) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.BeginObject().Key("a").BeginArray().Number(1).Number(2).EndArray().Key("b").BeginArray().EndArray().EndObject();
  EXPECT_EQ(json.Finish(), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}");
}

TEST(JsonWriter, writes_numbers_in_their_shortest_exact_form) {
  JsonWriter json;
  json.BeginArray().Number(0.1).Number(0.1f).Number(1e300).Number(-0.0).Number(NAN).Number(-INFINITY);
  json.Number(std::numeric_limits<float>::infinity()).Number(UINT64_MAX).Number(INT64_MIN).Number(uint8_t{65});
  EXPECT_EQ(json.EndArray().Finish(),
            "[0.1,0.1,1e+300,-0,null,null,null,18446744073709551615,-9223372036854775808,65]");
}

TEST(JsonWriter, escapes_every_byte_so_that_a_parser_reads_it_back) {
  for (int c = 0; c < 128; ++c) {
    const std::string text = std::string("x") + static_cast<char>(c) + "y";
    JsonWriter json;
    json.BeginObject().Key(text).Text(text).EndObject();
    const auto read = ReadJson(json.Finish(), "t");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->at(text).as_string(), text) << c;
  }
  EXPECT_EQ(JsonQuoted("\"\\\n\r\t\x1b\x7f"), R"("\"\\\n\r\t\u001b\u007f")");
}

TEST(JsonWriter, replaces_bytes_that_are_not_utf8) {
  EXPECT_EQ(JsonQuoted("\x1b[31m \xff é \xed\xa0\x80"), "\"\\u001b[31m \uFFFD é \uFFFD\uFFFD\uFFFD\"");
  const auto read = ReadJson(JsonQuoted("\xc3 \xe2\x82"), "t");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->as_string(), "\uFFFD \uFFFD\uFFFD");
}

}  // namespace
}  // namespace samebit
