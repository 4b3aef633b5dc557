// Schemas from strangers: refused or made within bounds, never a crash, never a thread that is left behind.
#include <gtest/gtest.h>

#include <functional>

#include "text/grammar_test_support.h"

namespace samebit::text {
namespace {

std::string Nested(const std::string& open, const std::string& middle, const std::string& close, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += middle;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

std::string Listed(int count, const std::function<std::string(int)>& item) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + item(i);
  return text;
}

// Either outcome is right; what counts is that there is one, with a code of the list.
void Survives(const std::string& schema, bool validates = false) {
  SchemaError why;
  const auto grammar = Bytes().compiler->Compile({"", {schema}, validates}, why);
  if (grammar != nullptr) {
    auto state = std::move(grammar->Start()).value();
    std::vector<uint32_t> words = Words();
    const auto mask = state->Mask(words);
    EXPECT_TRUE(mask.ok() || mask.error().code != ErrorCode::kInternal) << mask.error().message;
    return;
  }
  EXPECT_TRUE(why.error.code == ErrorCode::kMalformed || why.error.code == ErrorCode::kUnsupported ||
              why.error.code == ErrorCode::kTooLarge)
      << why.error.message;
  EXPECT_EQ(why.error.message.find("needs too much"), std::string::npos) << schema.substr(0, 200);
}

TEST(HostileSchema, deep_nesting) {
  for (const int depth : {50, 120, 1000, 40'000}) {
    Survives(Nested(R"({"items":)", "{}", "}", depth));
    Survives(Nested(R"({"not":)", "{}", "}", depth), true);
    Survives(Nested(R"({"allOf":[)", "{}", "]}", depth));
    Survives(Nested(R"({"anyOf":[{"type":"null"},)", "{}", "]}", depth));
    Survives(Nested(R"({"properties":{"a":)", "true", "}}", depth));
    Survives(Nested("[", "", "]", depth));
  }
}

TEST(HostileSchema, huge_lists) {
  Survives(R"({"enum":[)" + Listed(40'000, [](int i) { return "\"v" + std::to_string(i) + "\""; }) + "]}");
  Survives(R"({"enum":[)" + Listed(60'000, [](int i) { return std::to_string(i); }) + "]}");
  Survives(R"({"properties":{)" + Listed(8'000, [](int i) { return "\"p" + std::to_string(i) + "\":{}"; }) + "}}");
  Survives(R"({"properties":{)" + Listed(8'000, [](int i) { return "\"p" + std::to_string(i) + "\":{}"; }) +
           R"(},"additionalProperties":false})");
  Survives(R"({"oneOf":[)" + Listed(1000, [](int i) { return R"({"const":)" + std::to_string(i) + "}"; }) + "]}");
  Survives(R"({"patternProperties":{)" + Listed(100, [](int i) { return "\"^p" + std::to_string(i) + "\":{}"; }) + "}}");
  Survives(R"({"required":[)" + Listed(20'000, [](int i) { return "\"r" + std::to_string(i) + "\""; }) + "]}");
  Survives("{\"title\":\"" + std::string(10 << 20, 'x') + "\"}");
}

TEST(HostileSchema, counts_out_of_proportion) {
  for (const char* count : {"1000", "100000", "4000000000", "1e300"}) {
    for (const char* keyword : {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
      Survives(std::string("{\"") + keyword + "\":" + count + "}");
  }
  Survives(R"({"type":"number","multipleOf":0.000000000000000001})");
  Survives(R"({"type":"integer","multipleOf":1000000007})");
  Survives(R"({"type":"integer","minimum":-1e308,"maximum":1e308})");
  Survives(R"({"type":"array","minItems":900,"items":{"type":"array","minItems":900,"items":{"type":"string"}}})");
}

TEST(HostileSchema, exploding_patterns) {
  for (const char* pattern :
       {"(a|aa)+$", "((((a{0,99}){0,99}){0,99}){0,99}){0,99}", "^(.*a.{30}|.*b.{29})$", "(x+x+)+y", "[^a]{1000000}",
        "^(([a-z])+.)+[A-Z]([a-z])+$", "\\\\p{L}{0,5000}", ".*.*.*.*.*.*.*.*=.*"})
    Survives(std::string(R"({"type":"string","pattern":")") + pattern + "\"}");
  Survives(R"({"type":"string","pattern":")" + std::string(300'000, '(') + "\"}");
  Survives(R"({"type":"string","pattern":"^.*a.{20}$","allOf":[{"pattern":"^.*b.{19}$"},{"pattern":"^.*c.{18}$"}]})");
}

TEST(HostileSchema, references_that_multiply) {
  std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    chain += "\"d" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  Survives(chain + R"("d60":{"type":"object","properties":{"a":{}}}}})");
  Survives(chain + R"("d60":{"type":"object","properties":{"a":{}}}}})", true);
  std::string wide = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    wide += "\"d" + std::to_string(i) + R"(":{"anyOf":[)" + next + "," + next + "]},";
  }
  Survives(wide + R"("d60":{"type":"integer"}}})");
  Survives(R"({"allOf":[)" + Listed(40, [](int) { return R"({"anyOf":[{"minimum":1},{"minimum":2},{"type":"string"}]})"; }) +
           "]}");
  Survives(R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})");
  Survives(R"({"allOf":[{"$ref":"#"}]})", true);
  std::string line = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 4000; ++i)
    line += "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"},";
  Survives(line + R"("d4000":{"type":"integer"}}})");
  EXPECT_EQ(Refusal(line + R"("d4000":{"type":"integer"}}})", true).error.code, ErrorCode::kTooLarge);
  EXPECT_EQ(Refusal(chain + R"("d60":{"type":"object"}}})", true).error.code, ErrorCode::kTooLarge);
  EXPECT_EQ(Refusal(wide + R"("d60":{"type":"integer"}}})", true).error.code, ErrorCode::kTooLarge);
}

TEST(HostileSchema, a_recursive_schema_is_a_tree) {
  const auto tree = CompileSchema(
      R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#/$defs/n"}}},)"
      R"("required":["c"],"additionalProperties":false}}})");
  EXPECT_TRUE(Takes(*tree, R"({"c":[{"c":[]},{"c":[{"c":[]}]}]})"));
}

TEST(HostileSchema, a_limit_that_an_answer_reaches_is_an_error_and_the_same_each_time) {
  // Each letter doubles what the lexer has to remember.
  SchemaError why;
  const auto grammar = Bytes().compiler->Compile({"", {R"({"type":"string","pattern":"^[ab]*a[ab]{40}$"})"}, false}, why);
  ASSERT_NE(grammar, nullptr) << why.error.message;
  std::string text = "\"";
  uint64_t random = 1;
  for (int i = 0; i < 200'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    text += (random >> 60 & 1) != 0 ? 'a' : 'b';
  }
  const auto run = [&]() -> std::pair<size_t, std::string> {
    auto state = std::move(grammar->Start()).value();
    std::vector<uint32_t> words = Words();
    for (size_t i = 0; i < text.size(); ++i) {
      const auto mask = state->Mask(words);
      if (!mask.ok()) return {i, mask.error().message};
      const auto commit = state->Commit(Bytes().IdOf(static_cast<unsigned char>(text[i])));
      if (!commit.ok()) return {i, commit.error().message};
    }
    return {text.size(), ""};
  };
  const auto first = run();
  EXPECT_LT(first.first, text.size()) << "no limit was reached";
  EXPECT_NE(first.second.find("too complex"), std::string::npos) << first.second;
  EXPECT_EQ(run(), first);
}

}  // namespace
}  // namespace samebit::text
