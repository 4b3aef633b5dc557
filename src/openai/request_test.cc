// What the parsers make of a request: every value where it belongs, every wrong one named.
#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "openai/chat_request.h"
#include "openai/completion_request.h"
#include "openai/token_request.h"

namespace samebit::openai {
namespace {

constexpr const char* kUser = R"("messages":[{"role":"user","content":"hi"}])";

std::variant<ChatRequest, ApiError> Chat(const std::string& fields, ParseRules rules = {}) {
  rules.vocabulary = rules.vocabulary == 0 ? 100 : rules.vocabulary;
  const auto body = ReadJson("{" + fields + "}", "body");
  if (!body.ok()) return InvalidValue("", body.error().message, "invalid_json");
  return ParseChatRequest(*body, rules);
}

ChatRequest Good(const std::string& fields, const ParseRules& rules = {}) {
  auto parsed = Chat(std::string(kUser) + (fields.empty() ? "" : ",") + fields, rules);
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    ADD_FAILURE() << fields << ": " << error->message;
    return {};
  }
  return std::get<ChatRequest>(parsed);
}

ApiError Bad(const std::string& fields, const ParseRules& rules = {}) {
  auto parsed = Chat(std::string(kUser) + "," + fields, rules);
  if (const auto* error = std::get_if<ApiError>(&parsed)) return *error;
  ADD_FAILURE() << fields << " was taken";
  return {};
}

TEST(ChatRequest, takes_every_sampling_parameter) {
  const ChatRequest request = Good(
      R"("temperature":0.7,"top_p":0.9,"top_k":40,"min_p":0.05,"repetition_penalty":1.1,"presence_penalty":0.5,)"
      R"("frequency_penalty":-0.5,"logit_bias":{"5":-100,"7":2.5},"seed":18446744073709551615,"n":3,"stop":["a","b"],)"
      R"("stop_token_ids":[3],"max_tokens":9,"min_tokens":2,"ignore_eos":true,"logprobs":true,"top_logprobs":4)");
  const SamplingWish& wish = request.common.sampling;
  EXPECT_EQ(wish.temperature, 0.7f);
  EXPECT_EQ(wish.top_p, 0.9f);
  EXPECT_EQ(wish.top_k, 40u);
  EXPECT_EQ(wish.min_p, 0.05f);
  EXPECT_EQ(wish.repetition_penalty, 1.1f);
  EXPECT_EQ(wish.presence_penalty, 0.5f);
  EXPECT_EQ(wish.frequency_penalty, -0.5f);
  EXPECT_EQ(wish.logit_bias, (std::vector<std::pair<TokenId, float>>{{5, -100.0f}, {7, 2.5f}}));
  EXPECT_EQ(wish.seed, UINT64_MAX);
  EXPECT_EQ(wish.samples, 3u);
  EXPECT_EQ(wish.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(wish.stop_ids, (std::vector<TokenId>{3}));
  EXPECT_EQ(wish.max_tokens, 9u);
  EXPECT_EQ(wish.min_tokens, 2u);
  EXPECT_TRUE(wish.ignore_eos);
  EXPECT_TRUE(request.common.wants_logprobs);
  EXPECT_EQ(wish.logprobs, 4u);
}

TEST(ChatRequest, leaves_what_nobody_says_to_others) {
  const ChatRequest request = Good("");
  EXPECT_FALSE(request.common.sampling.temperature);
  EXPECT_FALSE(request.common.sampling.max_tokens);
  EXPECT_FALSE(request.common.sampling.seed);
  EXPECT_FALSE(request.common.wants_logprobs);
  EXPECT_EQ(request.common.tier, contract::Tier::kStrict);
}

TEST(ChatRequest, a_seed_may_be_a_string_and_nothing_but_a_whole_number) {
  EXPECT_EQ(Good(R"("seed":"42")").common.sampling.seed, 42u);
  EXPECT_EQ(Good(R"("seed":42.0)").common.sampling.seed, 42u);
  for (const char* seed : {"-1", "1.5", "\"\"", "\" 1\"", "\"-1\"", "true", "[]", "1e30"})
    EXPECT_EQ(Bad(std::string("\"seed\":") + seed).param, "seed") << seed;
}

TEST(ChatRequest, the_two_names_of_the_length_must_agree) {
  EXPECT_EQ(Good(R"("max_completion_tokens":5)").common.sampling.max_tokens, 5u);
  EXPECT_EQ(Good(R"("max_tokens":5,"max_completion_tokens":5)").common.sampling.max_tokens, 5u);
  EXPECT_EQ(Bad(R"("max_tokens":5,"max_completion_tokens":6)").param, "max_completion_tokens");
}

TEST(ChatRequest, the_header_wins_over_the_body_and_the_body_over_the_metadata) {
  ParseRules rules;
  rules.tier_default = contract::Tier::kStatistical;
  EXPECT_EQ(Good("", rules).common.tier, contract::Tier::kStatistical);
  EXPECT_EQ(Good(R"("metadata":{"reproducibility_tier":1})", rules).common.tier, contract::Tier::kRequest);
  const char* both = R"("metadata":{"reproducibility_tier":1},"reproducibility_tier":"strict")";
  EXPECT_EQ(Good(both, rules).common.tier, contract::Tier::kStrict);
  rules.tier_header = "statistical";
  EXPECT_EQ(Good(both, rules).common.tier, contract::Tier::kStatistical);
  rules.tier_header = "7";
  EXPECT_EQ(Bad(both, rules).param, "X-Reproducibility-Tier");
}

TEST(ChatRequest, an_unknown_field_is_refused_or_listed_by_tier) {
  const ApiError error = Bad(R"("colour":"blue")");
  EXPECT_EQ(error.code, "unsupported_parameter");
  EXPECT_EQ(error.param, "colour");
  EXPECT_TRUE(error.is_refusal);
  const ChatRequest request = Good(R"("colour":"blue","reproducibility_tier":0)");
  EXPECT_EQ(request.common.ignored_fields, std::vector<std::string>{"colour"});
}

TEST(ChatRequest, what_cannot_be_honoured_is_refused_at_every_tier) {
  for (const char* field : {R"("functions":[{}])", R"("tools":[{"type":"x"}])", R"("guided_json":{"type":"object"})",
                            R"("response_format":{"type":"text","x":1})", R"("store":true)", R"("suffix":"x")",
                            R"("reasoning_effort":"low")", R"("length_penalty":2)", R"("skip_special_tokens":false)",
                            R"("best_of":2)", R"("prompt_template":{"name":"x","colour":"blue"})", R"("modalities":["text","audio"])"}) {
    const ApiError error = Bad(std::string(field) + R"(,"reproducibility_tier":0)");
    EXPECT_EQ(error.code, "unsupported_parameter") << field;
    EXPECT_EQ(error.status, 400) << field;
  }
}

TEST(ChatRequest, a_prompt_template_comes_by_name_version_and_values) {
  const ChatRequest request = Good(
      R"("prompt_template":{"name":"p","version":"1.10","variables":{"t":"x","w":3,"n":0.5,"b":false}})");
  ASSERT_TRUE(request.prompt_template.has_value());
  EXPECT_EQ(request.prompt_template->name, "p");
  EXPECT_EQ(request.prompt_template->version, "1.10");
  EXPECT_EQ(request.prompt_template->variables,
            (PromptValues{{"t", "x"}, {"w", int64_t{3}}, {"n", 0.5}, {"b", false}}));
  EXPECT_EQ(Good(R"("prompt_template":{"name":"p","version":2})").prompt_template->version, "2");
  EXPECT_FALSE(Good(R"("prompt_template":{"name":"p"})").prompt_template->version.has_value());
  EXPECT_FALSE(Good("").prompt_template.has_value());
}

TEST(ChatRequest, with_a_prompt_template_messages_may_be_missing_or_empty) {
  for (const char* fields : {R"("prompt_template":{"name":"p"})", R"("prompt_template":{"name":"p"},"messages":[])"})
    EXPECT_EQ(Chat(fields).index(), 0u) << fields;
  EXPECT_EQ(std::get<1>(Chat(R"("prompt_template":null)")).param, "messages");
  EXPECT_EQ(std::get<1>(Chat(R"("prompt_template":{"name":"p"},"messages":5)")).param, "messages");
}

TEST(ChatRequest, a_wrong_prompt_template_is_named_by_its_path) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("p")", "prompt_template"},
      {R"({})", "prompt_template.name"},
      {R"({"name":5})", "prompt_template.name"},
      {R"({"name":"p","version":1.5})", "prompt_template.version"},
      {R"({"name":"p","variables":[]})", "prompt_template.variables"},
      {R"({"name":"p","variables":{"x":[1]}})", "prompt_template.variables.x"},
      {R"({"name":"p","variables":{"x":null}})", "prompt_template.variables.x"},
      {R"({"name":"p","colour":1})", "prompt_template.colour"}};
  for (const auto& [value, param] : cases)
    EXPECT_EQ(Bad(std::string(R"("prompt_template":)") + value).param, param) << value;
  std::string many;
  for (int i = 0; i < 65; ++i) many += (i ? ",\"v" : "\"v") + std::to_string(i) + "\":1";
  EXPECT_EQ(Bad(R"("prompt_template":{"name":"p","variables":{)" + many + "}}").param, "prompt_template.variables");
}

TEST(ChatRequest, pins_are_digests_with_or_without_their_name) {
  const std::string digest(64, 'a');
  EXPECT_EQ(Good(R"("reproducibility":{"fingerprint":"sha256:)" + digest + R"("})").common.pins.fingerprint, digest);
  EXPECT_EQ(Good(R"("reproducibility":{"model_sha256":")" + digest + R"("})").common.pins.model_sha256, digest);
  EXPECT_EQ(Bad(R"("reproducibility":{"model_sha256":"A"})").param, "reproducibility.model_sha256");
  EXPECT_EQ(Bad(R"("reproducibility":{"modl_sha256":"A"})").code, "unsupported_parameter");
}

TEST(ChatRequest, a_beam_search_has_its_width_from_best_of_or_n) {
  EXPECT_EQ(Good(R"("use_beam_search":true,"n":3)").common.sampling.beam_width, 3u);
  EXPECT_EQ(Good(R"("use_beam_search":true,"n":3,"best_of":5)").common.sampling.beam_width, 5u);
  EXPECT_EQ(Bad(R"("use_beam_search":true,"n":3,"best_of":2)").param, "best_of");
  EXPECT_EQ(Bad(R"("use_beam_search":true,"temperature":0.5)").param, "temperature");
}

TEST(ChatRequest, joins_text_parts_and_reads_developer_as_system) {
  auto parsed = Chat(R"("messages":[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},)"
                     R"({"role":"assistant","content":"c","tool_calls":null,"refusal":null,"annotations":[]}])");
  const auto& messages = std::get<ChatRequest>(parsed).messages;
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[0].content, "ab");
  EXPECT_EQ(messages[1].content, "c");
}

std::variant<CompletionRequest, ApiError> Completion(const std::string& text) {
  ParseRules rules;
  rules.vocabulary = 100;
  return ParseCompletionRequest(*ReadJson(text, "body"), rules);
}

TEST(CompletionRequest, takes_the_four_forms_of_a_prompt) {
  const auto prompts = [](const std::string& prompt) {
    auto parsed = Completion("{\"prompt\":" + prompt + "}");
    return std::get<CompletionRequest>(parsed).prompts;
  };
  EXPECT_EQ(prompts("\"a\""), (std::vector<Prompt>{std::string("a")}));
  EXPECT_EQ(prompts("[\"a\",\"b\"]"), (std::vector<Prompt>{std::string("a"), std::string("b")}));
  EXPECT_EQ(prompts("[1,2]"), (std::vector<Prompt>{std::vector<TokenId>{1, 2}}));
  EXPECT_EQ(prompts("[[1],[2,3]]"), (std::vector<Prompt>{std::vector<TokenId>{1}, std::vector<TokenId>{2, 3}}));
}

TEST(CompletionRequest, scores_a_prompt_with_no_answer_only_with_echo) {
  auto scored = Completion(R"({"prompt":"a","echo":true,"max_tokens":0,"logprobs":0})");
  EXPECT_EQ(std::get<CompletionRequest>(scored).common.sampling.max_tokens, 0u);
  EXPECT_TRUE(std::get<CompletionRequest>(scored).common.wants_logprobs);
  auto refused = Completion(R"({"prompt":"a","max_tokens":0})");
  EXPECT_EQ(std::get<ApiError>(refused).param, "max_tokens");
}

TEST(TokenizeRequest, takes_text_or_messages) {
  auto text = ParseTokenizeRequest(*ReadJson(R"({"prompt":"a","add_special_tokens":false})", "body"));
  EXPECT_EQ(std::get<std::string>(std::get<TokenizeRequest>(text).input), "a");
  EXPECT_FALSE(std::get<TokenizeRequest>(text).add_special_tokens);
  auto chat = ParseTokenizeRequest(*ReadJson(std::string("{") + kUser + "}", "body"));
  EXPECT_EQ(std::get<1>(std::get<TokenizeRequest>(chat).input).size(), 1u);
}

}  // namespace
}  // namespace samebit::openai
