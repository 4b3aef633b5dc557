// The JSON that commands print is valid whatever stands in a text, and its numbers read back as the same bits.
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace samebit {
namespace {

TEST(JsonWriter, places_commas_and_nests) {
  JsonWriter json;
  json.BeginObject().Key("a").BeginArray().Number(1).Number(2.5f).Bool(true).EndArray();
  json.Key("b").BeginObject().EndObject().Key("c").Verbatim("[3]").EndObject();
  EXPECT_EQ(json.Finish(), R"({"a":[1,2.5,true],"b":{},"c":[3]})");
}

TEST(JsonWriter, escapes_every_byte_so_that_a_parser_reads_it_back) {
  for (int c = 0; c < 128; ++c) {
    const std::string text = std::string("x") + static_cast<char>(c) + "y";
    JsonWriter json;
    json.Text(text);
    EXPECT_EQ(boost::json::parse(json.Finish()).as_string(), text) << c;
  }
}

TEST(JsonWriter, replaces_bytes_that_are_not_utf8) {
  const auto written = [](std::string_view text) {
    JsonWriter json;
    json.Text(text);
    return json.Finish();
  };
  EXPECT_EQ(written("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(written("\xc3"), "\"" + replaced + "\"");
  EXPECT_EQ(written("\xe2\x82"), "\"" + replaced + replaced + "\"");
  EXPECT_EQ(written("\xc0\xaf"), "\"" + replaced + replaced + "\"");                 // over-long
  EXPECT_EQ(written("\xed\xa0\x80"), "\"" + replaced + replaced + replaced + "\"");  // a surrogate
}

}  // namespace
}  // namespace samebit
