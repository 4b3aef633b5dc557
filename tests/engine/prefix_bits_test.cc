// The prefix cache, first calls and restarts: scenarios 7 to 11.
#include <gtest/gtest.h>

#include "support/engine_runs.h"

namespace samebit::test {
namespace {

EngineOptions With(Reduction reduction, bool prefix_cache = true) {
  EngineOptions options = TogetherOptions(reduction);
  options.prefix_cache = prefix_cache;
  return options;
}

TEST(PrefixBits, first_second_and_nth_call_and_a_restart_give_one_answer) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    const Request request = GreedyRequest(RandomPrompt(70, 2), 50);
    const std::string alone = AnswerBytes(RunAlone(weights, request, reduction));
    bool equal = true;
    for (int restart = 0; restart < 2; ++restart) {
      const auto engine = MakeEngine(weights, TogetherOptions(reduction));
      for (int call = 0; call < 5; ++call) {
        const Completion completion = RunTogether(*engine, {request})[0];
        EXPECT_EQ(completion.trace.cached_prompt_tokens, call == 0 ? 0u : 64u);
        equal &= AnswerBytes(completion) == alone;
      }
    }
    return equal;
  });
}

TEST(PrefixBits, cold_flushed_cold_and_warm_are_equal_over_forty_prompts) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 40; ++i) requests.push_back(GreedyRequest(RandomPrompt(20 + 3 * i, 500 + i), 200));
  ExpectLawAndNotControl([&](Reduction reduction) {
    const auto engine = MakeEngine(weights, TogetherOptions(reduction));
    const auto cold_a = RunTogether(*engine, requests);
    EXPECT_EQ(engine->counters().cached_tokens, 0u);
    engine->DropPrefixCache();
    // In another order, so that the batches differ as well.
    std::vector<Request> reversed(requests.rbegin(), requests.rend());
    const auto cold_b = RunTogether(*engine, reversed);
    EXPECT_EQ(engine->counters().cached_tokens, 0u);
    const auto warm = RunTogether(*engine, requests);
    bool equal = true;
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_GT(warm[i].trace.cached_prompt_tokens, 0u);
      equal &= AnswerBytes(cold_a[i]) == AnswerBytes(cold_b[requests.size() - 1 - i]) &&
               AnswerBytes(cold_a[i]) == AnswerBytes(warm[i]);
    }
    return equal;
  });
}

TEST(PrefixBits, shared_prefixes_around_a_page_in_flight_together) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    const std::vector<TokenId> common = RandomPrompt(64, 9);
    std::vector<Request> requests;
    for (uint32_t shared : {15u, 16u, 17u, 31u, 32u, 33u, 47u, 48u, 49u}) {
      std::vector<TokenId> prompt(common.begin(), common.begin() + shared);
      const std::vector<TokenId> tail = RandomPrompt(7, 100 + shared);
      prompt.insert(prompt.end(), tail.begin(), tail.end());
      requests.push_back(GreedyRequest(prompt, 24));
    }
    ExpectLawAndNotControl([&](Reduction reduction) {
      EngineOptions options = TogetherOptions(reduction);
      options.sequences_max = 3;  // the later ones find the pages of the earlier, which still run
      const auto engine = MakeEngine(weights, options);
      const bool equal = EqualAlone(*engine, weights, requests);
      EXPECT_GT(engine->counters().cached_tokens, 0u);
      EXPECT_GT(engine->counters().sequences_in_step_max, 1u);
      return equal;
    });
  }
}

TEST(PrefixBits, the_history_of_the_engine_does_not_show) {
  const SharedWeights weights = PackTiny({"gemma3", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    const Request a = HotRequest(RandomPrompt(40, 11), 40, 7), b = HotRequest(RandomPrompt(50, 12), 40, 8);
    const auto engine = MakeEngine(weights, TogetherOptions(reduction));
    const std::string first = AnswerBytes(RunTogether(*engine, {a})[0]);
    RunTogether(*engine, {b});
    const Completion again = RunTogether(*engine, {a})[0];
    EXPECT_GT(again.trace.cached_prompt_tokens, 0u);
    return AnswerBytes(again) == first && first == AnswerBytes(RunAlone(weights, a, reduction));
  });
}

TEST(PrefixBits, on_and_off_are_equal) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    const std::vector<Request> requests = MixedRequests(9, 900);
    const auto on = MakeEngine(weights, With(reduction, true)), off = MakeEngine(weights, With(reduction, false));
    bool equal = true;
    for (int round = 0; round < 2; ++round) {
      const auto with = RunTogether(*on, requests), without = RunTogether(*off, requests);
      for (size_t i = 0; i < requests.size(); ++i) equal &= AnswerBytes(with[i]) == AnswerBytes(without[i]);
    }
    EXPECT_GT(on->counters().cached_tokens, 0u);
    EXPECT_EQ(off->counters().cached_tokens, 0u);
    return equal;
  });
}

}  // namespace
}  // namespace samebit::test
