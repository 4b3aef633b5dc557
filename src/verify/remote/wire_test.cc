// What servers say, in the forms of samebit, vLLM, llama.cpp and SGLang, and what is made of it.
#include "verify/remote/wire.h"

#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "verify/remote/choices.h"

namespace samebit::verify {
namespace {

constexpr Manner kChat = {.endpoint = Endpoint::kChat, .token_ids = true, .logprobs = true, .ignore_eos = true, .seed = true};

// vLLM's and samebit's form.
constexpr const char* kWhole = R"({"system_fingerprint": "fp", "choices": [{"index": 0, "message": {"content": "ab"},
  "token_ids": [5, 6], "finish_reason": "length", "logprobs": {"content": [
    {"token": "a", "bytes": [97], "logprob": -0.5, "top_logprobs": [{"token": "a", "bytes": [97], "logprob": -0.5},
                                                                    {"token": "c", "bytes": [99], "logprob": -1.5}]},
    {"token": "b", "bytes": [98], "logprob": -0.25, "top_logprobs": []}]}}],
  "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
  "reproducibility": {"numeric_sha256": "11112222333344445555", "deployment_sha256": "aa"}})";

WireAnswer Read(const char* json, const Manner& manner = kChat) {
  WireAnswer answer;
  const Status status = AddToAnswer(json, manner, answer);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return answer;
}

WireRequest Asked(uint32_t tokens) {
  WireRequest request;
  request.tokens_max = tokens;
  return request;
}

TEST(Wire, asks_for_what_the_server_takes_and_for_nothing_else) {
  WireRequest request;
  request.model = "m";
  request.messages = {{"user", "a \"b\""}};
  request.seed = 7;
  const auto all = ReadJson(WireRequestJson(request, kChat), "request");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->at("messages").at(0).at("content").as_string(), "a \"b\"");
  EXPECT_EQ(all->at("seed").as_int64(), 7);
  EXPECT_TRUE(all->at("return_token_ids").as_bool());
  const auto plain = ReadJson(WireRequestJson(request, {.endpoint = Endpoint::kCompletions}), "request");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->at("prompt").as_string(), "a \"b\"");
  for (const char* key : {"seed", "logprobs", "return_token_ids", "ignore_eos", "n", "stream", "messages"})
    EXPECT_EQ(plain->as_object().if_contains(key), nullptr) << key;
}

TEST(Wire, a_whole_answer_is_read) {
  const WireAnswer answer = Read(kWhole);
  ASSERT_EQ(answer.choices.size(), 1u);
  const WireChoice& choice = answer.choices.at(0);
  EXPECT_EQ(choice.ids, (std::vector<TokenId>{5, 6}));
  EXPECT_EQ(choice.text, "ab");
  EXPECT_EQ(choice.tokens.at(0).top.at(1).bytes, "c");
  EXPECT_EQ(answer.prompt_tokens, 9u);
  EXPECT_EQ(answer.cached_tokens, 4u);
  EXPECT_EQ(answer.fingerprint, "fp");
  EXPECT_EQ(answer.maker, "numeric 1111222233334444, deployment aa");
  EXPECT_EQ(IdentityOf(answer), Identity::kTokenIds);
  const auto made = ChoiceMaker(Identity::kTokenIds).Make(answer, Asked(2));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->choices[0].tokens[0].id, 5);
  EXPECT_EQ(made->choices[0].tokens[0].margin, 1.0f);
}

TEST(Wire, llama_cpp_tells_ids_in_its_log_probabilities) {
  const WireAnswer answer = Read(R"({"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop",
    "logprobs": {"content": [{"id": 64, "token": "a", "bytes": [97], "logprob": -0.1, "top_logprobs": []}]}}],
    "timings": {"cache_n": 3}})");
  EXPECT_EQ(IdentityOf(answer), Identity::kTokenIds);
  EXPECT_EQ(answer.cached_tokens, 3u);
  EXPECT_EQ(ChoiceMaker(Identity::kTokenIds).Make(answer, Asked(4))->choices[0].tokens[0].id, 64);
}

TEST(Wire, the_old_form_of_completions_is_read) {
  const WireAnswer answer = Read(R"({"choices": [{"text": "ab", "finish_reason": "length", "logprobs": {"tokens": ["a", "b"],
    "token_logprobs": [-1, -2.5], "top_logprobs": [{"a": -1, "c": -3}, {"b": -2.5}], "text_offset": [0, 1]}}]})",
                                 {.endpoint = Endpoint::kCompletions});
  EXPECT_EQ(IdentityOf(answer), Identity::kTokenBytes);
  ASSERT_EQ(answer.choices.at(0).tokens.size(), 2u);
  EXPECT_EQ(answer.choices.at(0).tokens[1].token.logprob, -2.5);
  EXPECT_EQ(answer.choices.at(0).tokens[0].top.size(), 2u);
}

TEST(Wire, sglang_is_read_whole_and_as_growing_chunks) {
  const Manner manner = {.endpoint = Endpoint::kGenerate};
  const char* first = R"({"text": "a", "output_ids": [7], "meta_info": {"prompt_tokens": 3, "finish_reason": null,
    "output_token_logprobs": [[-0.5, 7, null]], "output_top_logprobs": [[[-0.5, 7, null], [-1.5, 8, null]]]}})";
  const char* second = R"({"text": "ab", "output_ids": [7, 9], "meta_info": {"prompt_tokens": 3, "cached_tokens": 2,
    "finish_reason": {"type": "length"}, "output_token_logprobs": [[-0.5, 7, null], [-0.75, 9, null]]}})";
  WireStream stream(manner);
  for (const char* data : {first, second, "[DONE]"}) ASSERT_TRUE(stream.Take({"", data}).ok());
  const auto streamed = stream.Finish();
  ASSERT_TRUE(streamed.ok());
  const WireAnswer whole = Read(second, manner);
  for (const WireAnswer& answer : {*streamed, whole}) {
    EXPECT_EQ(answer.choices.at(0).ids, (std::vector<TokenId>{7, 9}));
    EXPECT_EQ(answer.choices.at(0).tokens.size(), 2u);
    EXPECT_EQ(answer.choices.at(0).finish_reason, "length");
    EXPECT_EQ(answer.cached_tokens, 2u);
  }
}

TEST(Wire, a_stream_needs_its_end) {
  const char* chunk = R"({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": null}]})";
  const char* end = R"({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})";
  WireStream cut(kChat);
  ASSERT_TRUE(cut.Take({"", chunk}).ok());
  EXPECT_EQ(cut.Finish().error().code, ErrorCode::kMalformed);
  WireStream no_reason(kChat);
  ASSERT_TRUE(no_reason.Take({"", chunk}).ok() && no_reason.Take({"", "[DONE]"}).ok());
  EXPECT_EQ(no_reason.Finish().error().code, ErrorCode::kMalformed);
  WireStream good(kChat);
  ASSERT_TRUE(good.Take({"", chunk}).ok() && good.Take({"", end}).ok() && good.Take({"", "[DONE]"}).ok());
  EXPECT_EQ(good.Take({"", chunk}).error().code, ErrorCode::kMalformed);
  EXPECT_EQ(good.Finish()->choices.at(0).text, "a");
  EXPECT_EQ(WireStream(kChat).Take({"", R"({"error": {"message": "out of memory"}})"}).error().message,
            "the server says: out of memory");
}

TEST(Wire, less_than_the_identity_needs_is_refused) {
  const WireAnswer text = Read(R"({"choices": [{"message": {"content": "ab"}, "finish_reason": "stop"}]})");
  EXPECT_EQ(IdentityOf(text), Identity::kText);
  EXPECT_FALSE(ChoiceMaker(Identity::kTokenIds).Make(text, Asked(9)).ok());
  EXPECT_EQ(ChoiceMaker(Identity::kText).Make(text, Asked(9))->choices[0].tokens.size(), 2u);
  const auto cut = ChoiceMaker(Identity::kTokenIds).Make(Read(kWhole), Asked(3));
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("after 2 of 3 tokens"), std::string::npos);
}

TEST(Wire, candidates_differ_in_their_last_bit) {
  const auto digest = [](const char* logprob) {
    const std::string json = std::string(R"({"choices": [{"message": {"content": "a"}, "finish_reason": "length", "token_ids": [1],
      "logprobs": {"content": [{"token": "a", "logprob": -1, "top_logprobs": [{"token": "a", "logprob": )") +
                             logprob + "}]}]}}]}";
    return ChoiceMaker(Identity::kTokenIds).Make(Read(json.c_str()), Asked(1))->choices[0].tokens[0].logits_digest;
  };
  EXPECT_EQ(digest("-1.25"), digest("-1.25"));
  EXPECT_NE(digest("-1.25"), digest("-1.2500000000000002"));
}

TEST(Wire, broken_answers_have_a_code_and_no_effect) {
  const std::string good = kWhole;
  for (size_t length = 0; length < good.size(); ++length) {
    WireAnswer answer;
    EXPECT_EQ(AddToAnswer(good.substr(0, length), kChat, answer).error().code, ErrorCode::kMalformed) << length;
  }
  // Every byte replaced by others in turn: whatever is read, nothing falls over and choices stay few.
  for (size_t at = 0; at < good.size(); ++at)
    for (const char byte : {'[', '{', '9', '-', 'n', '"', '\0', '\xff'}) {
      std::string broken = good;
      broken[at] = byte;
      WireAnswer answer;
      if (AddToAnswer(broken, kChat, answer).ok()) {
        EXPECT_LE(answer.choices.size(), 1u);
        (void)ChoiceMaker(IdentityOf(answer)).Make(answer, Asked(2)).ok();
      }
    }
  for (const char* json : {R"({"choices": 5})", R"({"choices": [{"index": 4000000000}]})", R"({"choices": [{"token_ids": [-1]}]})",
                           R"({"choices": [7]})", "[]", "7"}) {
    WireAnswer answer;
    EXPECT_FALSE(AddToAnswer(json, kChat, answer).ok()) << json;
  }
}

TEST(Wire, an_error_is_a_short_printable_sentence) {
  EXPECT_EQ(ErrorSentence(R"({"error": {"message": "no\u001b[31m such\nmodel"}})"), "no [31m such model");
  EXPECT_EQ(ErrorSentence(R"({"detail": "x"})"), "x");
  EXPECT_EQ(ErrorSentence("plain"), "plain");
  EXPECT_LE(ErrorSentence(std::string(100'000, 'x')).size(), 300u);
}

}  // namespace
}  // namespace samebit::verify
