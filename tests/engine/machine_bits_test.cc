// What the machine and the set-up are: instruction sets, threads, parallel ranks, page sizes, cache types.
#include <gtest/gtest.h>

#include "support/engine_runs.h"

namespace samebit::test {
namespace {

// Whether a few mixed requests on such an engine have the bits that they have alone.
void ExpectExact(const TinyModel& model, const EngineOptions& varied) {
  const SharedWeights weights = PackTiny(model);
  ExpectLawAndNotControl([&](Reduction reduction) {
    EngineOptions options = varied;
    options.reduction = reduction;
    const auto engine = MakeEngine(weights, options);
    const bool equal = EqualAlone(*engine, weights, MixedRequests(5, 33));
    EXPECT_GE(engine->counters().sequences_in_step_max, 4u);
    return equal;
  });
}

TEST(MachineBits, every_instruction_set_gives_the_same) {
  for (const TinyModel& model : DeterminismModels()) {
    for (kernels::Isa isa : kernels::AvailableIsas()) {
      EngineOptions options = TogetherOptions();
      options.isa = isa;
      ExpectExact(model, options);
    }
  }
}

TEST(MachineBits, one_to_four_threads_give_the_same) {
  for (const TinyModel& model : DeterminismModels()) {
    for (uint32_t threads : {1u, 2u, 3u, 4u}) {
      EngineOptions options = TogetherOptions();
      options.threads = threads;
      ExpectExact(model, options);
    }
  }
}

TEST(MachineBits, one_two_and_four_parallel_ranks_give_the_same) {
  for (const char* name : {"llama-tied", "gemma3", "qwen3"}) {
    for (uint32_t ranks : {1u, 2u, 4u}) {
      EngineOptions options = TogetherOptions();
      options.tensor_parallel = ranks;
      const auto weights = PackTiny({name, false});
      if (!engine::Engine::Make(weights, nullptr, options).ok()) {
        EXPECT_EQ(ranks, 4u) << name << " cannot be shared by two ranks";
        continue;
      }
      ExpectExact({name, false}, options);
    }
  }
}

TEST(MachineBits, every_page_size_gives_the_same) {
  for (uint32_t page_tokens : {16u, 32u, 64u, 128u, 256u}) {
    EngineOptions options = TogetherOptions();
    options.page_tokens = page_tokens;
    ExpectExact({"gemma3", false}, options);
  }
}

TEST(MachineBits, few_rows_in_a_step_give_the_same) {
  for (uint32_t rows : {5u, 6u, 33u}) {
    EngineOptions options = TogetherOptions();
    options.step_rows_max = rows;
    ExpectExact({"llama-q4_1", false}, options);
  }
}

TEST(MachineBits, an_f32_cache_is_as_exact_and_another_answer) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  const std::vector<Request> requests = MixedRequests(5, 44);
  ExpectLawAndNotControl([&](Reduction reduction) {
    EngineOptions options = TogetherOptions(), alone = AloneOptions();
    options.reduction = alone.reduction = reduction;
    options.cache_type = alone.cache_type = kernels::CacheType::kF32;
    const auto together = RunTogether(*MakeEngine(weights, options), requests);
    bool equal = true;
    for (size_t i = 0; i < requests.size(); ++i)
      equal &= AnswerBytes(together[i]) == AnswerBytes(RunTogether(*MakeEngine(weights, alone), {requests[i]})[0]);
    // The cache type is part of the law, not of the set-up: the path under test really was another.
    EXPECT_NE(AnswerBytes(together[3]), AnswerBytes(RunAlone(weights, requests[3], reduction)));
    return equal;
  });
}

}  // namespace
}  // namespace samebit::test
