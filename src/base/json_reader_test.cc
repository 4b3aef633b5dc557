#include "base/json_reader.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace samebit {
namespace {

TEST(JsonReader, reads_every_kind_of_value) {
  const auto value = ReadJson(R"( {"a": [1, -2, 18446744073709551615, 1.5, true, null, "xA"], "b": {}} )", "t");
  ASSERT_TRUE(value.ok()) << value.error().message;
  const auto& array = value->at("a").as_array();
  EXPECT_EQ(array[0].as_int64(), 1);
  EXPECT_EQ(array[1].as_int64(), -2);
  EXPECT_EQ(array[2].as_uint64(), 18446744073709551615u);
  EXPECT_EQ(array[3].as_double(), 1.5);
  EXPECT_TRUE(array[4].as_bool());
  EXPECT_TRUE(array[5].is_null());
  EXPECT_EQ(array[6].as_string(), "xA");
  EXPECT_TRUE(value->at("b").as_object().empty());
}

TEST(JsonReader, refuses_a_repeated_key_at_any_depth_but_not_in_sisters) {
  EXPECT_EQ(ReadJson(R"({"a":1,"a":2})", "t").error().code, ErrorCode::kMalformed);
  EXPECT_EQ(ReadJson(R"({"x":[{"b":1,"c":{},"b":2}]})", "t").error().message,
            "t: byte 22: expected every key once, found \"b\" again");
  EXPECT_EQ(ReadJson(R"({"a":1,"\u0061":2})", "t").error().code, ErrorCode::kMalformed);
  EXPECT_TRUE(ReadJson(R"([{"a":1},{"a":2}])", "t").ok());
}

TEST(JsonReader, converts_decimals_exactly) {
  // Values that a multiply by a power of ten in double gets wrong in the last bit.
  EXPECT_EQ(ReadJson("1e-5", "t")->as_double(), 1e-5);
  EXPECT_EQ(ReadJson("1e-06", "t")->as_double(), 1e-06);
  EXPECT_EQ(ReadJson("0.1234567890123456789", "t")->as_double(), 0.1234567890123456789);
  EXPECT_EQ(ReadJson("9007199254740993.0", "t")->as_double(), 9007199254740993.0);
  EXPECT_EQ(ReadJson("8.5e-35", "t")->as_double(), 8.5e-35);
}

TEST(JsonReader, refuses_numbers_outside_double_and_other_words) {
  for (const char* text : {"1e999", "NaN", "Infinity", "01", "+1", "1.", ".5", "0x1", "tru", "'a'", "{,}", "[1,]"}) {
    EXPECT_EQ(ReadJson(text, "t").error().code, ErrorCode::kMalformed) << text;
  }
}

TEST(JsonReader, refuses_a_document_cut_at_every_length) {
  const std::string text = R"({"key":[1,2.5e3,{"x":"y\n"}],"z":false})";
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(ReadJson(text.substr(0, length), "t").ok()) << length;
  }
  EXPECT_TRUE(ReadJson(text, "t").ok());
  EXPECT_FALSE(ReadJson(text + "1", "t").ok());
}

TEST(JsonReader, refuses_deep_nesting_and_bad_utf8) {
  EXPECT_EQ(ReadJson(std::string(100000, '['), "t").error().code, ErrorCode::kTooLarge);
  const size_t most = limits::kJsonDepthMax;
  EXPECT_TRUE(ReadJson(std::string(most, '[') + std::string(most, ']'), "t").ok());
  EXPECT_EQ(ReadJson("\"\xff\"", "t").error().code, ErrorCode::kMalformed);
}

TEST(JsonReader, refuses_more_values_than_the_bound) {
  std::string text = "[0";
  for (uint64_t i = 0; i < limits::kJsonValuesMax; ++i) text += ",0";
  EXPECT_EQ(ReadJson(text + "]", "t").error().code, ErrorCode::kTooLarge);
  JsonReadOptions roomy;
  roomy.values_max = limits::kJsonValuesMax + 2;  // the list itself and one more
  EXPECT_TRUE(ReadJson(text + "]", "t", roomy).ok());
}

TEST(JsonReader, skips_the_named_keys_of_the_outer_object_only) {
  const auto value =
      ReadJson(R"({"model":{"v":{"a":1,"a":2},"m":[1,[2]]},"x":{"model":7},"model2":3})", "t", {{"model"}});
  ASSERT_TRUE(value.ok()) << value.error().message;
  EXPECT_TRUE(value->at("model").is_null());
  EXPECT_EQ(value->at("x").at("model").as_int64(), 7);
  EXPECT_EQ(value->at("model2").as_int64(), 3);
  EXPECT_TRUE(ReadJson(R"({"model":"s","x":1})", "t", {{"model"}})->at("model").is_null());
  EXPECT_TRUE(ReadJson(R"({"model":1.5,"x":1})", "t", {{"model"}})->at("model").is_null());
  EXPECT_FALSE(ReadJson(R"({"model":{"v":[1,}})", "t", {{"model"}}).ok());
}

}  // namespace
}  // namespace samebit
