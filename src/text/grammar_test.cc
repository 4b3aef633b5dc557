#include <gtest/gtest.h>

#include "base/digest.h"
#include "text/grammar_test_support.h"

namespace samebit::text {
namespace {

constexpr const char* kPerson =
    R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":150}},)"
    R"("required":["name","age"],"additionalProperties":false})";

TEST(Grammar, lets_through_what_the_schema_says_and_nothing_else) {
  const auto person = CompileSchema(kPerson);
  EXPECT_TRUE(Takes(*person, R"({"name":"Ada","age":36})"));
  EXPECT_TRUE(Takes(*person, "{\n  \"name\": \"A\u00e9\\n\",\n  \"age\": 0\n}"));
  EXPECT_EQ(Follow(*person, R"({"age":1})"), 2u);                       // order as in the schema
  EXPECT_EQ(Follow(*person, R"({"name":"Ada","age":151})"), 22u);       // too large
  EXPECT_EQ(Follow(*person, R"({"name":"Ada","age":1,)"), 21u);         // no other property
  EXPECT_EQ(Follow(*person, "{    "), 2u);                              // whitespace is bounded
  EXPECT_EQ(Follow(*person, "Sure"), 0u);
  EXPECT_EQ(Follow(*person, R"({"name":"Ada")"), 13u);                  // may not end here
}

TEST(Grammar, an_object_may_nest_anything) {
  const auto object = CompileSchema(R"({"type":"object"})");
  EXPECT_TRUE(Takes(*object, R"({})"));
  EXPECT_TRUE(Takes(*object, R"({"a":[1,2.5e3,{"b":null}],"c":true})"));
  EXPECT_EQ(Follow(*object, "[1]"), 0u);
}

TEST(Grammar, ends_only_where_the_answer_is_complete) {
  const auto grammar = CompileSchema(R"({"enum":["a","ab"]})");
  auto state = std::move(grammar->Start()).value();
  std::vector<uint32_t> words = Words();
  for (const char c : std::string(R"("ab)")) {
    EXPECT_FALSE(*state->Mask(words));
    EXPECT_FALSE(*state->Commit(Bytes().IdOf(static_cast<unsigned char>(c))));
  }
  EXPECT_FALSE(*state->Mask(words));
  EXPECT_TRUE(*state->Commit(Bytes().IdOf('"')));
  EXPECT_TRUE(*state->Mask(words));
  EXPECT_EQ(words, Words()) << "something may follow a complete answer";
}

TEST(Grammar, a_number_may_end_and_may_go_on) {
  const auto grammar = CompileSchema(R"({"type":"integer"})");
  auto state = std::move(grammar->Start()).value();
  std::vector<uint32_t> words = Words();
  EXPECT_FALSE(*state->Mask(words));
  EXPECT_FALSE(*state->Commit(Bytes().IdOf('7')));
  EXPECT_TRUE(*state->Mask(words));
  EXPECT_TRUE(Has(words, Bytes().IdOf('1')));
}

TEST(Grammar, control_tokens_are_never_let_through_and_long_tokens_are) {
  const auto grammar = CompileSchema(R"({"type":"string"})");
  auto state = std::move(grammar->Start()).value();
  std::vector<uint32_t> words = Words();
  ASSERT_TRUE(state->Mask(words).ok());
  ASSERT_FALSE(*state->Commit(Bytes().IdOf('"')));
  ASSERT_TRUE(state->Mask(words).ok());
  EXPECT_TRUE(Has(words, 256)) << "\"ab\" is one token";
  EXPECT_FALSE(Has(words, 257)) << "the control token";
}

TEST(Grammar, a_copy_goes_its_own_way) {
  const auto grammar = CompileSchema(R"({"enum":["ab","ac"]})");
  auto state = std::move(grammar->Start()).value();
  std::vector<uint32_t> words = Words(), other = Words();
  for (const char c : std::string("\"a")) ASSERT_TRUE(state->Commit(Bytes().IdOf(static_cast<unsigned char>(c))).ok());
  auto copy = std::move(state->Copy()).value();
  ASSERT_TRUE(state->Commit(Bytes().IdOf('b')).ok());
  ASSERT_TRUE(copy->Mask(other).ok());
  EXPECT_TRUE(Has(other, Bytes().IdOf('b')));
  EXPECT_TRUE(Has(other, Bytes().IdOf('c')));
  ASSERT_TRUE(copy->Commit(Bytes().IdOf('c')).ok());
  ASSERT_TRUE(state->Mask(words).ok());
  ASSERT_TRUE(copy->Mask(other).ok());
  EXPECT_EQ(words, other) << "both expect the quote";
}

TEST(Grammar, a_mask_is_the_same_however_much_the_grammar_was_used_before) {
  const auto used = CompileSchema(kPerson);
  const std::string text = R"({"name":"abc","age":12})";
  std::vector<std::vector<uint32_t>> first;
  for (int round = 0; round < 3; ++round) {
    const auto grammar = round == 2 ? CompileSchema(kPerson) : used;
    auto state = std::move(grammar->Start()).value();
    std::vector<uint32_t> words = Words();
    for (size_t i = 0; i < text.size(); ++i) {
      ASSERT_TRUE(state->Mask(words).ok());
      if (round == 0) first.push_back(words);
      EXPECT_EQ(words, first[i]);
      ASSERT_TRUE(state->Commit(Bytes().IdOf(static_cast<unsigned char>(text[i]))).ok());
    }
  }
}

// Where this digest changes, kGrammarVersion has to be raised.
TEST(Grammar, masks_are_the_golden_ones_of_this_version) {
  const auto grammar = CompileSchema(
      R"({"type":"object","properties":{"n":{"type":"number","minimum":-1.5,"maximum":20},"i":{"type":"integer","multipleOf":3},)"
      R"("e":{"enum":["a\"b",1.5,null,[true]]},"p":{"type":"string","pattern":"^[a-c]{2,4}x?$"},"f":{"type":"string",)"
      R"("format":"date"},"l":{"type":"array","items":{"$ref":"#/$defs/t"},"minItems":1,"maxItems":2}},)"
      R"("required":["n","i","e","p","f","l"],"$defs":{"t":{"anyOf":[{"type":"boolean"},{"type":"object"}]}}})");
  const std::string text =
      "{\"n\":-1.25,\n  \"i\": 12,\"e\":\"a\\\"b\",\"p\":\"abcx\",\"f\":\"2026-11-30\",\"l\":[true,{\"k\":[1e5,\"\\u0007\"]}],\"z\":0}";
  auto state = std::move(grammar->Start()).value();
  std::vector<uint32_t> words = Words();
  Sha256 digest;
  for (size_t i = 0; i <= text.size(); ++i) {
    ASSERT_TRUE(state->Mask(words).ok());
    digest.Update(words.data(), words.size() * sizeof(uint32_t));
    if (i == text.size()) break;
    const TokenId id = Bytes().IdOf(static_cast<unsigned char>(text[i]));
    ASSERT_TRUE(Has(words, id)) << text.substr(0, i);
    ASSERT_TRUE(state->Commit(id).ok());
  }
  EXPECT_EQ(digest.Finish().hex(), "59af04a4b65edaa85ea0f1dfa82d6a8752e0a29840861a66604cab32422a2247");
}

TEST(Grammar, two_schemas_in_one_grammar) {
  SchemaError why;
  const auto grammar = Bytes().compiler->Compile(
      {"start: \"a:\" @schema0 | \"b:\" @schema1", {R"({"type":"integer"})", R"({"$ref":"#/$defs/x","$defs":{"x":{"type":"boolean"}}})"}},
      why);
  ASSERT_NE(grammar, nullptr) << why.error.message;
  EXPECT_TRUE(Takes(*grammar, "a:12"));
  EXPECT_TRUE(Takes(*grammar, "b:true"));
  EXPECT_EQ(Follow(*grammar, "b:1"), 2u);
}

TEST(Grammar, a_refusal_names_the_place) {
  const auto expect = [](const char* schema, ErrorCode code, const char* place, bool validates = false) {
    const SchemaError why = Refusal(schema, validates);
    EXPECT_EQ(why.error.code, code) << schema << why.error.message;
    EXPECT_EQ(why.place, place) << schema << why.error.message;
  };
  expect(R"({"type":"array","items":{"type":"array","uniqueItems":true}})", ErrorCode::kUnsupported, ".items.uniqueItems");
  expect(R"({"properties":{"a.b":{"not":{}}}})", ErrorCode::kUnsupported, ".properties.a.b.not");
  expect(R"({"anyOf":[true,{"frobnicate":1}]})", ErrorCode::kUnsupported, ".anyOf.1.frobnicate");
  expect(R"({"anyOf":[true,{"frobnicate":1}]})", ErrorCode::kUnsupported, ".anyOf.1.frobnicate", true);
  expect(R"({"type":"string","pattern":"(a"})", ErrorCode::kUnsupported, ".pattern");
  expect(R"({"type":"string","pattern":"(?=a)b"})", ErrorCode::kUnsupported, ".pattern");
  expect(R"({"type":"string","format":"idn-email"})", ErrorCode::kUnsupported, ".format");
  expect(R"({"$ref":"http://127.0.0.1:1/x"})", ErrorCode::kUnsupported, ".$ref");
  expect(R"({"$ref":"file:///etc/passwd"})", ErrorCode::kUnsupported, ".$ref");
  expect(R"({"$ref":"#/$defs/none"})", ErrorCode::kUnsupported, ".$ref");
  expect(R"({"$ref":"#"})", ErrorCode::kUnsupported, ".$ref");
  expect(R"({"type":"strong"})", ErrorCode::kMalformed, ".type");
  expect(R"({"required":"a"})", ErrorCode::kMalformed, ".required");
  expect(R"({"$schema":"http://example.com/x"})", ErrorCode::kUnsupported, ".$schema");
  expect(R"({"x-guidance":{}})", ErrorCode::kUnsupported, ".x-guidance");
  expect(R"({"oneOf":[{"type":"integer"},{"minimum":3}]})", ErrorCode::kUnsupported, "");
  expect("[1", ErrorCode::kMalformed, "");
  expect("false", ErrorCode::kUnsupported, "");
}

TEST(Grammar, annotations_forbid_nothing) {
  const auto grammar = CompileSchema(
      R"({"title":"T","description":"d","default":1,"examples":[1],"x-mine":{"a":1},"type":"integer","uniqueItems":false})");
  EXPECT_TRUE(Takes(*grammar, "5"));
}

TEST(Grammar, what_it_cannot_say_is_looked_at_in_the_whole_answer) {
  const auto unique = CompileSchema(R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})", true);
  EXPECT_TRUE(Takes(*unique, "[1,1]"));
  EXPECT_EQ(*unique->Complaint("[1,2]"), "");
  EXPECT_NE(*unique->Complaint("[1,1]"), "");
  EXPECT_NE(*unique->Complaint("[1,"), "");
  const auto one = CompileSchema(R"({"oneOf":[{"type":"integer"},{"type":"number","minimum":3}]})", true);
  EXPECT_TRUE(Takes(*one, "5"));
  EXPECT_NE(*one->Complaint("5"), "");
  EXPECT_EQ(*one->Complaint("3.5"), "");
  EXPECT_EQ(*CompileSchema(kPerson)->Complaint("no JSON at all"), "") << "it was not made to be validated";
}

}  // namespace
}  // namespace samebit::text
