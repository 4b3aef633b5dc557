#include "support/engine_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "arith/test_support.h"

namespace samebit::test {

namespace {

[[noreturn]] void Stop(const std::string& message) {
  std::fprintf(stderr, "engine: %s\n", message.c_str());
  std::exit(1);
}

void AddWord(std::string* out, uint32_t word) { out->append(reinterpret_cast<const char*>(&word), sizeof word); }
void AddDigest(std::string* out, const Sha256Digest& digest) {
  out->append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

void AddRecord(std::string* out, const engine::TokenRecord& record) {
  AddWord(out, static_cast<uint32_t>(record.id));
  AddWord(out, arith::BitsOf(record.logprob));
  AddWord(out, arith::BitsOf(record.margin));
  AddDigest(out, record.logits_digest);
  for (const engine::TopToken& top : record.top) {
    AddWord(out, static_cast<uint32_t>(top.id));
    AddWord(out, arith::BitsOf(top.logprob));
  }
}

}  // namespace

EngineOptions AloneOptions() {
  EngineOptions options;
  options.isa = kernels::BestIsa();
  options.cache_bytes = 4ull << 20;
  options.context_max = 2048;
  options.prefill_chunk = 1;
  options.step_rows_max = 8;
  options.sequences_max = 8;
  options.prefix_cache = false;
  return options;
}

EngineOptions TogetherOptions(Reduction reduction) {
  EngineOptions options;
  options.reduction = reduction;
  options.isa = kernels::BestIsa();
  options.page_tokens = 16;
  options.cache_bytes = 32ull << 20;
  options.context_max = 2048;
  return options;
}

uint64_t BytesOfPages(const engine::Weights& weights, const EngineOptions& options, uint32_t pages) {
  const kernels::HeadPage head{options.cache_type, weights.config.head_size, options.page_tokens};
  return uint64_t{head.bytes()} * weights.config.kv_heads * weights.config.layers * pages;
}

std::unique_ptr<engine::Engine> MakeEngine(SharedWeights weights, const EngineOptions& options) {
  auto engine = engine::Engine::Make(std::move(weights), nullptr, options);
  if (!engine.ok()) Stop(engine.error().message);
  return std::move(engine).value();
}

RequestId SubmitOrStop(engine::Engine& engine, Request request, engine::TokenSink sink) {
  const auto id = engine.Submit(std::move(request), std::move(sink));
  if (!id.ok()) Stop(id.error().message);
  return *id;
}

Completion TakeOrStop(engine::Engine& engine, RequestId id) {
  auto completion = engine.Take(id);
  if (!completion.has_value()) Stop("a request is not done");
  if (!completion->ok()) Stop(completion->error().message);
  return std::move(*completion).value();
}

Completion RunAlone(SharedWeights weights, const Request& request, Reduction reduction) {
  EngineOptions options = AloneOptions();
  options.reduction = reduction;
  return RunTogether(*MakeEngine(std::move(weights), options), {request})[0];
}

std::vector<Completion> RunTogether(engine::Engine& engine, const std::vector<Request>& requests) {
  std::vector<RequestId> ids;
  for (const Request& request : requests) ids.push_back(SubmitOrStop(engine, request));
  while (engine.Step()) {
  }
  std::vector<Completion> completions;
  for (RequestId id : ids) completions.push_back(TakeOrStop(engine, id));
  return completions;
}

std::string ChoiceBytes(const engine::Choice& choice) {
  std::string bytes;
  AddWord(&bytes, static_cast<uint32_t>(choice.tokens.size()));
  for (const engine::TokenRecord& record : choice.tokens) AddRecord(&bytes, record);
  bytes.append(reinterpret_cast<const char*>(&choice.cumulative_logprob), sizeof(double));
  AddDigest(&bytes, choice.logits_digest);
  return bytes + choice.text + engine::FinishReasonName(choice.finish_reason);
}

std::string AnswerBytes(const Completion& completion) {
  std::string bytes;
  for (const engine::Choice& choice : completion.choices) {
    AddWord(&bytes, choice.sample_index);
    bytes += ChoiceBytes(choice);
  }
  for (const engine::TokenRecord& record : completion.prompt_records) AddRecord(&bytes, record);
  return bytes;
}

bool EqualAlone(engine::Engine& engine, SharedWeights weights, const std::vector<Request>& requests) {
  const std::vector<Completion> together = RunTogether(engine, requests);
  for (size_t i = 0; i < requests.size(); ++i)
    if (AnswerBytes(together[i]) != AnswerBytes(RunAlone(weights, requests[i], engine.options().reduction)))
      return false;
  return true;
}

void ExpectLawAndNotControl(const std::function<bool(Reduction)>& holds) {
  EXPECT_TRUE(holds(Reduction::kLaw));
  EXPECT_FALSE(holds(Reduction::kControl)) << "the order-dependent arm passed: the comparison cannot fail";
}

std::vector<TokenId> RandomPrompt(uint32_t length, uint64_t seed, uint32_t vocabulary) {
  arith::testing::Random random(seed);
  std::vector<TokenId> prompt;
  for (uint32_t i = 0; i < length; ++i) prompt.push_back(static_cast<TokenId>(random.Below(vocabulary)));
  return prompt;
}

Request GreedyRequest(std::vector<TokenId> prompt, uint32_t tokens_max) {
  Request request;
  request.prompt = std::move(prompt);
  request.tokens_max = tokens_max;
  request.top_logprobs = 3;
  request.logits_digests = true;
  return request;
}

Request HotRequest(std::vector<TokenId> prompt, uint32_t tokens_max, uint64_t seed) {
  Request request = GreedyRequest(std::move(prompt), tokens_max);
  request.sampling.temperature = 1.3f;
  request.sampling.top_p = 0.95f;
  request.sampling.seed = seed;
  return request;
}

std::vector<Request> MixedRequests(uint32_t count, uint64_t seed) {
  constexpr uint32_t kLengths[] = {1, 33, 5, 64, 16, 80, 2, 17, 40};
  std::vector<Request> requests;
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<TokenId> prompt = RandomPrompt(kLengths[i % std::size(kLengths)], seed + i);
    const uint32_t tokens = 12 + i % 7;
    requests.push_back(i % 2 == 0 ? GreedyRequest(std::move(prompt), tokens)
                                  : HotRequest(std::move(prompt), tokens, seed + i));
  }
  return requests;
}

const std::vector<TinyModel>& DeterminismModels() {
  static const std::vector<TinyModel> models = {{"llama-q4_1", false}, {"gemma3", false}, {"llama-untied", false}};
  return models;
}

}  // namespace samebit::test
