// RFC 8785 against another implementation's output (tests/data/contract).
#include "contract/canonical_json.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/json_reader.h"

namespace samebit::contract {
namespace {

std::string CanonicalOf(std::string_view text) {
  const auto value = ReadJson(text, "test");
  return value.ok() ? CanonicalJson(*value) : "unreadable: " + value.error().message;
}

TEST(CanonicalJson, equals_the_golden_vectors) {
  std::ifstream file(SAMEBIT_SOURCE_DIR "/tests/data/contract/canonical_json.jsonl");
  std::string line;
  size_t lines = 0;
  while (std::getline(file, line)) {
    const auto vector = ReadJson(line, "vector");
    ASSERT_TRUE(vector.ok()) << line;
    const auto& pair = vector->as_array();
    EXPECT_EQ(CanonicalOf(pair[0].as_string()), std::string(pair[1].as_string()));
    ++lines;
  }
  EXPECT_GE(lines, 1000u);
}

TEST(CanonicalJson, orders_keys_by_utf16_code_units) {
  // U+1F600 is D83D DE00 in UTF-16 and comes before U+FB33, although its UTF-8 comes after.
  EXPECT_EQ(CanonicalOf("{\"\xEF\xAC\xB3\":1,\"\xF0\x9F\x98\x80\":2,\"\xE2\x82\xAC\":3,\"1\":4,\"\":5}"),
            "{\"\":5,\"1\":4,\"\xE2\x82\xAC\":3,\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\xB3\":1}");
}

TEST(CanonicalJson, writes_numbers_as_ecmascript_does) {
  EXPECT_EQ(CanonicalNumber(-0.0), "0");
  EXPECT_EQ(CanonicalNumber(1e21), "1e+21");
  EXPECT_EQ(CanonicalNumber(999999999999999700000.0), "999999999999999700000");
  EXPECT_EQ(CanonicalNumber(1e-6), "0.000001");
  EXPECT_EQ(CanonicalNumber(1e-7), "1e-7");
  EXPECT_EQ(CanonicalNumber(-1.5e300), "-1.5e+300");
  EXPECT_EQ(CanonicalNumber(5e-324), "5e-324");
}

TEST(CanonicalJson, is_a_fixed_point) {
  const std::string once = CanonicalOf(R"( { "b" : [ 1.0 , "\u0007\/" , null ] , "a" : { } } )");
  EXPECT_EQ(once, "{\"a\":{},\"b\":[1,\"\\u0007/\",null]}");
  EXPECT_EQ(CanonicalOf(once), once);
}

}  // namespace
}  // namespace samebit::contract
