// The same on a real model: SmolLM2 135M, Q4_1.
#include <gtest/gtest.h>

#include "support/engine_runs.h"
#include "support/real_reference.h"

namespace samebit::test {
namespace {

constexpr uint32_t kTokens = 16;

std::vector<Request> ReferencePrompts() {
  std::vector<Request> requests;
  for (const GreedyAnswer& answer : ReadRealReference("smollm2").greedy) {
    requests.push_back(requests.size() % 2 == 0 ? GreedyRequest(answer.prompt, kTokens)
                                                : HotRequest(answer.prompt, kTokens, 7));
    requests.back().prompt.erase(requests.back().prompt.begin(), requests.back().prompt.end() - 24);
  }
  return requests;
}

TEST(SmolLm2Bits, batches_chunks_threads_preemption_and_prefixes_equal_one_request_alone) {
  std::string why;
  const auto model = OpenReal(kSmolLm2File, &why);
  ASSERT_NE(model, nullptr) << why;
  const SharedWeights weights = Pack(*model);
  const std::vector<Request> requests = ReferencePrompts();
  for (Reduction reduction : {Reduction::kLaw, Reduction::kControl}) {
    std::vector<std::string> alone;
    EngineOptions base = AloneOptions();
    base.reduction = reduction;
    base.cache_bytes = 64ull << 20;
    for (const Request& request : requests)
      alone.push_back(AnswerBytes(RunTogether(*MakeEngine(weights, base), {request})[0]));

    EngineOptions plain = TogetherOptions(), busy = plain;
    busy.threads = 2;
    busy.prefill_chunk = 7;
    busy.preempt_every_steps = 6;
    for (EngineOptions options : {plain, busy}) {
      options.reduction = reduction;
      options.cache_bytes = 64ull << 20;
      const auto engine = MakeEngine(weights, options);
      for (int round = 0; round < 2; ++round) {
        const auto together = RunTogether(*engine, requests);
        bool equal = true;
        for (size_t i = 0; i < requests.size(); ++i) equal &= AnswerBytes(together[i]) == alone[i];
        EXPECT_EQ(equal, reduction == Reduction::kLaw);
      }
      EXPECT_EQ(engine->counters().sequences_in_step_max, requests.size());
      EXPECT_EQ(engine->counters().preemptions > 0, options.preempt_every_steps > 0);
      EXPECT_GT(engine->counters().cached_tokens, 0u);
    }
  }
}

TEST(SmolLm2Bits, every_instruction_set_gives_the_same_answer) {
  std::string why;
  const auto model = OpenReal(kSmolLm2File, &why);
  ASSERT_NE(model, nullptr) << why;
  const SharedWeights weights = Pack(*model);
  Request request = ReferencePrompts()[1];
  request.tokens_max = 4;
  EngineOptions options = TogetherOptions();
  options.cache_bytes = 32ull << 20;
  options.isa = kernels::Isa::kScalar;
  const std::string scalar = AnswerBytes(RunTogether(*MakeEngine(weights, options), {request})[0]);
  for (kernels::Isa isa : kernels::AvailableIsas()) {
    options.isa = isa;
    options.prefill_chunk = 10;
    EXPECT_EQ(AnswerBytes(RunTogether(*MakeEngine(weights, options), {request})[0]), scalar) << kernels::IsaName(isa);
  }
  options.reduction = Reduction::kControl;
  EXPECT_NE(AnswerBytes(RunTogether(*MakeEngine(weights, options), {request})[0]), scalar);
}

}  // namespace
}  // namespace samebit::test
