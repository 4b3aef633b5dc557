// Requests and answers of /v1/embeddings.
#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "openai/embedding_answer.h"
#include "openai/embedding_request.h"

namespace samebit::openai {
namespace {

std::variant<EmbeddingRequest, ApiError> Parse(const std::string& text) {
  ParseRules rules;
  rules.vocabulary = 100;
  return ParseEmbeddingRequest(*ReadJson(text, "body"), rules);
}

EmbeddingRequest Good(const std::string& text) {
  const auto parsed = Parse(text);
  if (const auto* error = std::get_if<ApiError>(&parsed)) ADD_FAILURE() << error->message;
  return std::holds_alternative<EmbeddingRequest>(parsed) ? std::get<0>(parsed) : EmbeddingRequest{};
}

TEST(EmbeddingRequest, takes_texts_and_ids_alone_and_in_arrays) {
  EXPECT_EQ(std::get<std::string>(Good(R"({"input":"a"})").inputs.at(0)), "a");
  EXPECT_EQ(Good(R"({"input":["a","b"]})").inputs.size(), 2u);
  EXPECT_EQ(std::get<1>(Good(R"({"input":[1,2,3]})").inputs.at(0)), (std::vector<TokenId>{1, 2, 3}));
  EXPECT_EQ(Good(R"({"input":[[1],[2,3]]})").inputs.size(), 2u);
}

TEST(EmbeddingRequest, reads_openais_fields_and_ours) {
  const EmbeddingRequest request = Good(
      R"({"input":"a","model":"m","user":"u","encoding_format":"base64","dimensions":384,"pooling":"last",)"
      R"("normalize":false,"reproducibility_tier":1})");
  EXPECT_EQ(request.common.model, "m");
  EXPECT_TRUE(request.base64);
  EXPECT_EQ(request.dimensions, 384u);
  EXPECT_EQ(request.pooling, Pooling::kLast);
  EXPECT_EQ(request.normalize, false);
  EXPECT_EQ(request.common.tier, contract::Tier::kRequest);
  EXPECT_FALSE(Good(R"({"input":"a","encoding_format":"float"})").base64);
}

TEST(EmbeddingRequest, refuses_each_wrong_value_by_name) {
  std::string many = "\"x\"";
  for (int i = 0; i < 2048; ++i) many += ",\"x\"";
  const struct {
    std::string body, param, code;
  } cases[] = {
      {R"({})", "input", "missing_required_parameter"},
      {R"({"input":[]})", "input", "invalid_value"},
      {R"({"input":5})", "input", "invalid_value"},
      {R"({"input":[1,100]})", "input[1]", "invalid_value"},
      {R"({"input":[[1],["x"]]})", "input[1][0]", "invalid_value"},
      {R"({"input":["a",{}]})", "input[1]", "invalid_type"},
      {"{\"input\":[" + many + "]}", "input", "invalid_value"},
      {R"({"input":"a","encoding_format":"int8"})", "encoding_format", "invalid_value"},
      {R"({"input":"a","encoding_format":5})", "encoding_format", "invalid_type"},
      {R"({"input":"a","dimensions":0})", "dimensions", "invalid_value"},
      {R"({"input":"a","pooling":"max"})", "pooling", "invalid_value"},
      {R"({"input":"a","normalize":"yes"})", "normalize", "invalid_type"},
      {R"({"input":"a","temperature":0})", "temperature", "unsupported_parameter"},
      {R"({"input":"a","inputs":"b"})", "inputs", "unsupported_parameter"},
  };
  for (const auto& one : cases) {
    const auto parsed = Parse(one.body);
    const auto* error = std::get_if<ApiError>(&parsed);
    ASSERT_NE(error, nullptr) << one.body;
    EXPECT_EQ(error->param, one.param) << one.body.substr(0, 80) << ": " << error->message;
    EXPECT_EQ(error->code, one.code) << one.body.substr(0, 80) << ": " << error->message;
  }
}

TEST(EmbeddingAnswer, writes_numbers_that_read_back_and_base64_of_their_bytes) {
  EmbeddingAnswer answer;
  answer.model = "m";
  answer.vectors = {{1.0f, -0.1f}, {0x1p-149f}, {}};
  answer.prompt_tokens = 7;
  answer.form.pooling_source = "checkpoint";
  const std::string text = EmbeddingAnswerJson(answer);
  EXPECT_NE(text.find(R"({"object":"embedding","index":0,"embedding":[1,-0.1]})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("usage":{"prompt_tokens":7,"total_tokens":7})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("pooling":{"value":"mean","source":"checkpoint"})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("normalized":{"value":true,"source":"server"})"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"seed\""), std::string::npos);
  answer.base64 = true;
  const std::string coded = EmbeddingAnswerJson(answer);
  EXPECT_NE(coded.find(R"("embedding":"AACAP83MzL0=")"), std::string::npos) << coded;
  EXPECT_NE(coded.find(R"("embedding":"AQAAAA==")"), std::string::npos) << coded;
  EXPECT_NE(coded.find(R"("embedding":"")"), std::string::npos) << coded;
}

}  // namespace
}  // namespace samebit::openai
