// The text of answers, chunks and errors.
#include "openai/answer.h"

#include <gtest/gtest.h>

#include <boost/json/value_to.hpp>

#include "base/json_reader.h"
#include "openai/api_error.h"

namespace samebit::openai {
namespace {

const AnswerHead kHead = {"chatcmpl-1", 17, "m", "samebit-1-ab"};

TokenEntry Entry(const std::string& text, float logprob, std::vector<TopEntry> top = {}) {
  TokenEntry entry;
  entry.token = {text, text, logprob, 0};
  entry.top = std::move(top);
  return entry;
}

TEST(ChunkJson, goes_from_role_over_text_to_finish_and_usage) {
  ChunkChoice choice;
  choice.gives_role = true;
  const std::string head =
      R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":17,"model":"m","system_fingerprint":"samebit-1-ab",)";
  EXPECT_EQ(ChunkJson(Endpoint::kChat, kHead, &choice, {}),
            head + R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]})");
  choice = {};
  choice.text = "a\nb";
  EXPECT_EQ(ChunkJson(Endpoint::kChat, kHead, &choice, {}),
            head + R"("choices":[{"index":0,"delta":{"content":"a\nb"},"logprobs":null,"finish_reason":null}]})");
  choice = {};
  choice.finish_reason = "stop";
  EXPECT_EQ(ChunkJson(Endpoint::kChat, kHead, &choice, {.usage_is_null = true}),
            head + R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null})");
  const Usage usage = {3, 2, 1};
  EXPECT_EQ(ChunkJson(Endpoint::kChat, kHead, nullptr, {.usage_is_null = true, .usage = &usage}),
            head + R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,)"
                   R"("prompt_tokens_details":{"cached_tokens":1}}})");
}

TEST(SseEvent, is_one_line_whatever_the_text_holds) {
  ChunkChoice choice;
  choice.text = "a\r\n\r\ndata: [DONE]\n\n\xe2\x80\xa8\xff";
  const std::string event = SseEvent(ChunkJson(Endpoint::kCompletions, kHead, &choice, {}));
  EXPECT_TRUE(event.starts_with("data: {"));
  EXPECT_EQ(event.find('\n'), event.size() - 2);
  EXPECT_EQ(event.find('\r'), std::string::npos);
  EXPECT_TRUE(ReadJson(event.substr(6, event.size() - 8), "event").ok());
}

TEST(CompletionLogprobs, counts_characters_and_keeps_the_likelier_of_equal_texts) {
  Answer answer;
  answer.endpoint = Endpoint::kCompletions;
  answer.head = kHead;
  answer.reproducibility.effective_sampling_json = "{}";
  AnswerChoice choice;
  choice.finish_reason = "length";
  TokenEntry first = Entry("\xC3\xA9t", 0);
  first.has_logprob = false;
  choice.logprobs = {first, Entry("x", -0.5f, {{"x", "x", -0.5f, 1}, {"\xEF\xBF\xBD", "\xFF", -1, 2}, {"\xEF\xBF\xBD", "\xFE", -2, 3}}),
                     Entry("y", -3, {{"x", "x", -0.25f, 1}})};
  answer.choices = {choice};
  const auto json = ReadJson(AnswerJson(answer), "answer");
  ASSERT_TRUE(json.ok()) << json.error().message;
  const auto& logprobs = json->at("choices").at(0).at("logprobs");
  EXPECT_EQ(boost::json::value_to<std::vector<int>>(logprobs.at("text_offset")), (std::vector<int>{0, 2, 3}));
  EXPECT_TRUE(logprobs.at("token_logprobs").at(0).is_null());
  EXPECT_EQ(logprobs.at("top_logprobs").at(1).as_object().size(), 2u);
  EXPECT_EQ(logprobs.at("top_logprobs").at(1).at("\xEF\xBF\xBD").to_number<double>(), -1);
  // The token itself is always among the candidates.
  EXPECT_EQ(logprobs.at("top_logprobs").at(2).at("y").to_number<double>(), -3);
}

TEST(PromptLogprobs, names_the_rank_of_candidates_only) {
  JsonWriter json;
  TokenEntry first;
  first.has_logprob = false;
  TokenEntry second = Entry("b", -4, {{"a", "a", -0.1f, 7}});
  second.token.id = 8;
  WritePromptLogprobs(json, {first, second});
  EXPECT_EQ(json.Finish(), R"([null,{"7":{"logprob":-0.1,"rank":1,"decoded_token":"a"},)"
                           R"("8":{"logprob":-4,"rank":null,"decoded_token":"b"}}])");
}

TEST(Logprobs, give_margins_only_where_they_were_asked_for) {
  TokenEntry first = Entry("a", 0), second = Entry("b", -0.5f);
  first.has_logprob = false;
  uint64_t offset = 0;
  JsonWriter without, with, chat;
  WriteCompletionLogprobs(without, {first, second}, &offset);
  EXPECT_EQ(without.Finish().find("logit_margin"), std::string::npos);
  second.margin = 0.1f;
  WriteCompletionLogprobs(with, {first, second}, &offset);
  EXPECT_NE(with.Finish().find(R"("logit_margins":[null,0.1])"), std::string::npos);
  WriteChatLogprobs(chat, {second});
  EXPECT_EQ(chat.Finish(), R"({"content":[{"token":"b","logprob":-0.5,"bytes":[98],"logit_margin":0.1,)"
                           R"("top_logprobs":[]}],"refusal":null})");
}

TEST(ErrorJson, always_has_all_four_fields) {
  EXPECT_EQ(ErrorJson(InvalidValue("", "a \"b\"\n")),
            R"({"error":{"message":"a \"b\"\n","type":"invalid_request_error","param":null,"code":"invalid_value"}})");
  ApiError error = Refuse(contract::Refusal::kFingerprintMismatch, "x", "m");
  error.fields = {"x", "y"};
  EXPECT_EQ(error.status, 409);
  EXPECT_EQ(ErrorJson(error), R"({"error":{"message":"m","type":"invalid_request_error","param":"x",)"
                              R"("code":"fingerprint_mismatch","fields":["x","y"]}})");
  EXPECT_EQ(Refuse(contract::Refusal::kCapacity, "", "m").retry_after_seconds, 1u);
}

}  // namespace
}  // namespace samebit::openai
