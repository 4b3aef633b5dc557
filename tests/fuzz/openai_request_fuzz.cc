// Any bytes as the body of a request to any endpoint: an error object that is JSON, or a request within the limits.
#include <cstdlib>

#include "base/json_reader.h"
#include "base/limits.h"
#include "fuzz/seeded_mutator.h"
#include "openai/chat_request.h"
#include "openai/completion_request.h"
#include "openai/embedding_request.h"
#include "openai/token_request.h"

namespace {

using namespace samebit;

constexpr const char* kSeed =
    R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi\ud83d\ude00"}]}],"prompt":[[1,2],"a"],)"
    R"("temperature":0.7,"top_p":0.9,"top_k":40,"min_p":0.1,"logit_bias":{"5":-1e0},"seed":"18446744073709551615","n":2,)"
    R"("stop":["a","b"],"stop_token_ids":[3],"max_tokens":9,"min_tokens":2,"logprobs":true,"top_logprobs":4,"stream":true,)"
    R"("stream_options":{"include_usage":true},"reproducibility_tier":"strict","metadata":{"reproducibility_tier":1},)"
    R"("reproducibility":{"fingerprint":"sha256:00"},"use_beam_search":false,"best_of":2,"echo":true,"tokens":[1],)"
    R"("response_format":{"type":"text"},"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{}}}],)"
    R"("tool_choice":"auto","parallel_tool_calls":true,"chat_template_kwargs":{"a":[{}]},"input":[[1],"a"],)"
    R"("encoding_format":"base64","dimensions":64,"pooling":"mean","normalize":true})";

void CheckError(const openai::ApiError& error) {
  if (error.status < 400 || error.status > 499 || error.code.empty()) std::abort();
  if (!ReadJson(openai::ErrorJson(error), "error").ok()) std::abort();
}

void CheckCommon(const openai::CommonRequest& common) {
  const SamplingWish& wish = common.sampling;
  if (wish.stop.size() > limits::kStopStringsMax || wish.samples.value_or(1) > limits::kSamplesMax) std::abort();
  if (wish.temperature && !(*wish.temperature >= 0 && *wish.temperature <= 100)) std::abort();
  if (wish.top_p && !(*wish.top_p > 0 && *wish.top_p <= 1)) std::abort();
  if (wish.min_p && !(*wish.min_p >= 0 && *wish.min_p < 1)) std::abort();
  for (const auto& [id, bias] : wish.logit_bias)
    if (id < 0 || id >= 100 || !(bias >= -100 && bias <= 100)) std::abort();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned) {
  return samebit::test::MutateFromSeed(kSeed, data, size, size_max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto body = ReadJson({reinterpret_cast<const char*>(data), size}, "the body");
  if (!body.ok()) return 0;
  openai::ParseRules rules;
  rules.vocabulary = 100;
  const auto chat = openai::ParseChatRequest(*body, rules);
  if (const auto* error = std::get_if<openai::ApiError>(&chat)) CheckError(*error);
  else CheckCommon(std::get<0>(chat).common);
  const auto completion = openai::ParseCompletionRequest(*body, rules);
  if (const auto* error = std::get_if<openai::ApiError>(&completion)) CheckError(*error);
  else CheckCommon(std::get<0>(completion).common);
  const auto tokenize = openai::ParseTokenizeRequest(*body);
  if (const auto* error = std::get_if<openai::ApiError>(&tokenize)) CheckError(*error);
  const auto detokenize = openai::ParseDetokenizeRequest(*body, rules.vocabulary);
  if (const auto* error = std::get_if<openai::ApiError>(&detokenize)) CheckError(*error);
  const auto embedding = openai::ParseEmbeddingRequest(*body, rules);
  if (const auto* error = std::get_if<openai::ApiError>(&embedding)) CheckError(*error);
  else if (std::get<0>(embedding).inputs.empty() || std::get<0>(embedding).inputs.size() > limits::kEmbeddingInputsMax)
    std::abort();
  return 0;
}
