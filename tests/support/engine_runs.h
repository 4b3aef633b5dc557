// Runs of an engine for tests of determinism, and the comparison of their bits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "support/tiny_models.h"

namespace samebit::test {

// The engine's words, for the tests.
using engine::Completion;
using engine::EngineOptions;
using engine::Reduction;
using engine::Request;
using engine::RequestId;
using SharedWeights = std::shared_ptr<const engine::Weights>;

// The base that every run is compared with: one request alone, token by token, no prefix cache.
EngineOptions AloneOptions();
// An ordinary engine: whole prompts, many sequences at once, prefix cache, the best instruction set.
EngineOptions TogetherOptions(Reduction reduction = Reduction::kLaw);
// The KV budget of so many pages.
uint64_t BytesOfPages(const engine::Weights& weights, const EngineOptions& options, uint32_t pages);

// Ends the test program with the error where the engine refuses.
std::unique_ptr<engine::Engine> MakeEngine(SharedWeights weights, const EngineOptions& options);
RequestId SubmitOrStop(engine::Engine& engine, Request request, engine::TokenSink sink = nullptr);
Completion TakeOrStop(engine::Engine& engine, RequestId id);

// On a fresh engine of AloneOptions with this reduction.
Completion RunAlone(SharedWeights weights, const Request& request, Reduction reduction);
// All submitted before the first step; answers in the order of `requests`.
std::vector<Completion> RunTogether(engine::Engine& engine, const std::vector<Request>& requests);

// All that an answer says: ids, bits of log-probabilities and margins, digests of the logits, candidates, text, ends.
// Not the trace, which tells how it was made.
std::string AnswerBytes(const Completion& completion);
// Of one choice, without its sample index.
std::string ChoiceBytes(const engine::Choice& choice);

// Whether every request run together on `engine` says what it says alone. The engine's own reduction decides the arm.
bool EqualAlone(engine::Engine& engine, SharedWeights weights, const std::vector<Request>& requests);

// `holds` is a comparison that must succeed by the law and fail on the order-dependent arm: a test that cannot fail
// shows nothing.
void ExpectLawAndNotControl(const std::function<bool(Reduction)>& holds);

// Pseudo-random prompts.
std::vector<TokenId> RandomPrompt(uint32_t length, uint64_t seed, uint32_t vocabulary = 270);
Request GreedyRequest(std::vector<TokenId> prompt, uint32_t tokens_max);
// Temperature 1.3, top-p 0.95.
Request HotRequest(std::vector<TokenId> prompt, uint32_t tokens_max, uint64_t seed);
// `count` requests of many lengths, greedy and hot in turn.
std::vector<Request> MixedRequests(uint32_t count, uint64_t seed);

// Models whose bits the tests of determinism look at: quantized; windows and two RoPE bases; many layers of floats.
const std::vector<TinyModel>& DeterminismModels();

}  // namespace samebit::test
