// Every refusal, with its code and the field that its sentence names.
#include "engine/check_request.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/limits.h"

namespace samebit::engine {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

RequestLimits Bounds() {
  RequestLimits bounds;
  bounds.vocabulary = 100;
  bounds.context_max = 64;
  bounds.cache_tokens_max = 128;
  bounds.page_tokens = 16;
  bounds.sequences_max = 4;
  return bounds;
}

Request Good() {
  Request request;
  request.prompt = {1, 2, 3};
  return request;
}

void ExpectRefused(ErrorCode code, const std::string& field, const std::function<void(Request&)>& spoil) {
  Request request = Good();
  spoil(request);
  const Status status = CheckRequest(request, Bounds());
  ASSERT_FALSE(status.ok()) << field;
  EXPECT_EQ(status.error().code, code) << status.error().message;
  EXPECT_NE(status.error().message.find(field), std::string::npos) << status.error().message;
}

TEST(CheckRequest, accepts_a_plain_request_and_every_bound_itself) {
  const RequestLimits bounds = Bounds();
  EXPECT_TRUE(CheckRequest(Good(), bounds).ok());
  Request request = Good();
  request.prompt = {0, 99};
  request.tokens_max = 62;
  request.tokens_min = 62;
  request.top_logprobs = limits::kTopLogprobsMax;
  request.samples = limits::kSamplesMax;
  request.stop_ids = {0, 5, 99};
  request.sampling = {100, 1000, 1, 0.99f, 10, 2, -2, {{0, -100.0f}, {99, 100.0f}}, 1};
  EXPECT_TRUE(CheckRequest(request, bounds).ok());
  Request beams = Good();
  beams.beam_width = 4;
  beams.samples = 4;
  EXPECT_TRUE(CheckRequest(beams, bounds).ok());
}

TEST(CheckRequest, refuses_bad_prompts_and_counts) {
  ExpectRefused(ErrorCode::kInvalidArgument, "prompt", [](Request& r) { r.prompt.clear(); });
  ExpectRefused(ErrorCode::kInvalidArgument, "prompt: token 100", [](Request& r) { r.prompt.push_back(100); });
  ExpectRefused(ErrorCode::kInvalidArgument, "prompt: token -1", [](Request& r) { r.prompt.push_back(-1); });
  ExpectRefused(ErrorCode::kInvalidArgument, "samples", [](Request& r) { r.samples = 0; });
  ExpectRefused(ErrorCode::kInvalidArgument, "samples", [](Request& r) { r.samples = limits::kSamplesMax + 1; });
  ExpectRefused(ErrorCode::kInvalidArgument, "tokens_max", [](Request& r) { r.tokens_max = 0; });
  ExpectRefused(ErrorCode::kInvalidArgument, "tokens_min", [](Request& r) { r.tokens_min = r.tokens_max + 1; });
  ExpectRefused(ErrorCode::kInvalidArgument, "top_logprobs",
                [](Request& r) { r.top_logprobs = limits::kTopLogprobsMax + 1; });
  ExpectRefused(ErrorCode::kInvalidArgument, "stop_ids: token 100", [](Request& r) { r.stop_ids = {100}; });
  ExpectRefused(ErrorCode::kInvalidArgument, "stop_ids", [](Request& r) { r.stop_ids = {5, 4}; });
  ExpectRefused(ErrorCode::kInvalidArgument, "stop_ids", [](Request& r) { r.stop_ids = {5, 5}; });
  ExpectRefused(ErrorCode::kInvalidArgument, "stop_ids: no token is left", [](Request& r) {
    for (TokenId id = 0; id < 100; ++id) r.stop_ids.push_back(id);
  });
  ExpectRefused(ErrorCode::kInvalidArgument, "stop_strings", [](Request& r) { r.stop_strings = {"x"}; });
}

TEST(CheckRequest, refuses_what_does_not_fit) {
  ExpectRefused(ErrorCode::kContextOverflow, "64", [](Request& r) { r.tokens_max = 62; });
  ExpectRefused(ErrorCode::kContextOverflow, "context", [](Request& r) { r.prompt.assign(64, 1); });
  ExpectRefused(ErrorCode::kCapacity, "KV cache", [](Request& r) {
    r.tokens_max = 60;
    r.beam_width = 3;
  });
  // 5 beams of 19 tokens are 95, but each takes two pages of 16: 160 of 128.
  ExpectRefused(ErrorCode::kCapacity, "160", [](Request& r) { r.beam_width = 5; });
}

TEST(CheckRequest, refuses_bad_sampling_by_name) {
  const auto refused = [](const char* field, const std::function<void(SamplingParams&)>& spoil) {
    ExpectRefused(ErrorCode::kInvalidArgument, field, [&](Request& r) { spoil(r.sampling); });
  };
  for (float value : {-1.0f, 0.001f, 101.0f, kNan, kInfinity})
    refused("temperature", [=](SamplingParams& p) { p.temperature = value; });
  for (float value : {0.0f, -0.5f, 1.01f, kNan}) refused("top_p", [=](SamplingParams& p) { p.top_p = value; });
  for (float value : {-0.1f, 1.0f, kNan}) refused("min_p", [=](SamplingParams& p) { p.min_p = value; });
  for (float value : {0.0f, -1.0f, 11.0f, kNan})
    refused("repetition_penalty", [=](SamplingParams& p) { p.repetition_penalty = value; });
  for (float value : {-2.5f, 2.5f, kNan, -kInfinity}) {
    refused("presence_penalty", [=](SamplingParams& p) { p.presence_penalty = value; });
    refused("frequency_penalty", [=](SamplingParams& p) { p.frequency_penalty = value; });
  }
  for (float value : {101.0f, -101.0f, kNan})
    refused("logit_bias", [=](SamplingParams& p) { p.logit_bias = {{1, value}}; });
  refused("logit_bias: token 100", [](SamplingParams& p) { p.logit_bias = {{100, 1.0f}}; });
  refused("logit_bias: token -1", [](SamplingParams& p) { p.logit_bias = {{-1, 1.0f}}; });
  refused("logit_bias: token 4", [](SamplingParams& p) { p.logit_bias = {{4, 1.0f}, {4, 1.0f}}; });
  ExpectRefused(ErrorCode::kTooLarge, "logit_bias",
                [](Request& r) { r.sampling.logit_bias.assign(limits::kLogitBiasEntriesMax + 1, {1, 0.0f}); });
}

TEST(CheckRequest, refuses_what_beam_search_cannot_do) {
  const auto refused = [](const char* field, const std::function<void(Request&)>& spoil) {
    ExpectRefused(ErrorCode::kInvalidArgument, field, [&](Request& r) {
      r.beam_width = 2;
      r.tokens_max = 4;
      spoil(r);
    });
  };
  refused("beam_width", [](Request& r) {
    r.beam_width = 5;  // more than sequences_max
    r.prompt = {1};
    r.tokens_max = 1;
  });
  refused("samples", [](Request& r) { r.samples = 3; });
  refused("temperature", [](Request& r) { r.sampling.temperature = 1; });
  refused("tokens_min", [](Request& r) { r.tokens_min = 1; });
}

void ExpectOptionRefused(ErrorCode code, const std::string& field, const std::function<void(EngineOptions&)>& spoil) {
  Weights weights;
  weights.config.layers = 2;
  weights.config.kv_heads = 1;
  weights.config.heads = 2;
  weights.config.head_size = 16;
  EngineOptions options;
  ASSERT_TRUE(CheckOptions(options, weights).ok());
  spoil(options);
  const Status status = CheckOptions(options, weights);
  ASSERT_FALSE(status.ok()) << field;
  EXPECT_EQ(status.error().code, code) << status.error().message;
  EXPECT_NE(status.error().message.find(field), std::string::npos) << status.error().message;
}

TEST(CheckOptions, refuses_each_option_out_of_range) {
  const auto refused = [](const char* field, const std::function<void(EngineOptions&)>& spoil) {
    ExpectOptionRefused(ErrorCode::kInvalidArgument, field, spoil);
  };
  for (uint32_t value : {0u, 257u}) refused("threads", [=](EngineOptions& o) { o.threads = value; });
  for (uint32_t value : {0u, 8u, 48u, 512u}) refused("page_tokens", [=](EngineOptions& o) { o.page_tokens = value; });
  refused("context_max", [](EngineOptions& o) { o.context_max = limits::kContextMax + 1; });
  for (uint32_t value : {0u, 4097u}) {
    refused("step_rows_max", [=](EngineOptions& o) { o.step_rows_max = value; });
    refused("prefill_chunk", [=](EngineOptions& o) { o.prefill_chunk = value; });
    refused("prefill_beside_decodes", [=](EngineOptions& o) { o.prefill_beside_decodes = value; });
  }
  for (uint32_t value : {0u, 1025u}) refused("sequences_max", [=](EngineOptions& o) { o.sequences_max = value; });
  for (uint32_t value : {0u, 3u, 16u}) refused("tensor_parallel", [=](EngineOptions& o) { o.tensor_parallel = value; });
#if defined(__x86_64__)
  refused("isa", [](EngineOptions& o) { o.isa = kernels::Isa::kNeon; });
#else
  refused("isa", [](EngineOptions& o) { o.isa = kernels::Isa::kAvx2; });
#endif
  ExpectOptionRefused(ErrorCode::kCapacity, "cache_bytes", [](EngineOptions& o) { o.cache_bytes = 100; });
}

TEST(CheckOptions, refuses_more_ranks_than_a_matrix_has_units) {
  Weights weights;
  weights.layers.resize(1);
  weights.config.layers = weights.config.kv_heads = weights.config.heads = 1;
  weights.config.head_size = 16;
  weights.layers[0].attention_output.shape = arith::LinearTreeShape(arith::WeightType::kF32, 32, 16);
  weights.layers[0].down.shape = arith::LinearTreeShape(arith::WeightType::kF32, 256, 32);
  EngineOptions options;
  options.tensor_parallel = 2;
  EXPECT_TRUE(CheckOptions(options, weights).ok());
  options.tensor_parallel = 4;
  const Status status = CheckOptions(options, weights);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("tensor_parallel 4"), std::string::npos);
}

}  // namespace
}  // namespace samebit::engine
