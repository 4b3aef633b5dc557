// Concurrency and batch shape: scenarios 1 to 6.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/engine_runs.h"

namespace samebit::test {
namespace {

TEST(BatchBits, eight_identical_requests_get_one_answer) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    ExpectLawAndNotControl([&](Reduction reduction) {
      const auto engine = MakeEngine(weights, TogetherOptions(reduction));
      const bool equal = EqualAlone(*engine, weights, std::vector<Request>(8, GreedyRequest(RandomPrompt(45, 1), 40)));
      EXPECT_EQ(engine->counters().sequences_in_step_max, 8u);
      return equal;
    });
  }
}

TEST(BatchBits, slots_do_not_matter) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  for (uint32_t slots : {1u, 2u, 4u}) {
    SCOPED_TRACE(slots);
    ExpectLawAndNotControl([&](Reduction reduction) {
      EngineOptions options = TogetherOptions(reduction);
      options.sequences_max = slots;
      const auto engine = MakeEngine(weights, options);
      const bool equal = EqualAlone(*engine, weights, MixedRequests(6, 20));
      EXPECT_EQ(engine->counters().sequences_in_step_max, slots);
      return equal;
    });
  }
}

TEST(BatchBits, every_batch_size_gives_each_request_its_own_answer) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    const std::vector<Request> all = MixedRequests(33, 300);
    std::vector<std::string> alone[2];
    for (Reduction reduction : {Reduction::kLaw, Reduction::kControl})
      for (const Request& request : all)
        alone[static_cast<int>(reduction)].push_back(AnswerBytes(RunAlone(weights, request, reduction)));
    for (uint32_t size : {1u, 2u, 3u, 7u, 8u, 15u, 16u, 17u, 31u, 32u, 33u}) {
      SCOPED_TRACE(TestName(model) + ", batch of " + std::to_string(size));
      const std::vector<Request> requests(all.end() - size, all.end());
      const auto holds = [&](Reduction reduction) {
        const auto engine = MakeEngine(weights, TogetherOptions(reduction));
        const auto together = RunTogether(*engine, requests);
        EXPECT_EQ(engine->counters().sequences_in_step_max, size);
        bool equal = true;
        for (uint32_t i = 0; i < size; ++i)
          equal &= AnswerBytes(together[i]) == alone[static_cast<int>(reduction)][all.size() - size + i];
        return equal;
      };
      // In a batch of one only the prompt differs from the base, and 8-bit activations can swallow that.
      if (size > 1) {
        ExpectLawAndNotControl(holds);
      } else {
        EXPECT_TRUE(holds(Reduction::kLaw));
      }
    }
  }
}

TEST(BatchBits, the_place_in_the_list_does_not_matter) {
  const SharedWeights weights = PackTiny({"gemma3", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    std::vector<Request> requests = MixedRequests(9, 70);
    const auto forwards = RunTogether(*MakeEngine(weights, TogetherOptions(reduction)), requests);
    std::rotate(requests.begin(), requests.begin() + 4, requests.end());
    std::reverse(requests.begin(), requests.end());
    // Only some of them at once this time, so that neighbours differ too.
    EngineOptions options = TogetherOptions(reduction);
    options.sequences_max = 5;
    auto other = RunTogether(*MakeEngine(weights, options), requests);
    std::reverse(other.begin(), other.end());
    std::rotate(other.begin(), other.end() - 4, other.end());
    bool equal = true;
    for (size_t i = 0; i < forwards.size(); ++i) equal &= AnswerBytes(forwards[i]) == AnswerBytes(other[i]);
    return equal;
  });
}

TEST(BatchBits, hot_neighbours_with_penalties_do_not_touch_a_greedy_request) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    std::vector<Request> requests = {GreedyRequest(RandomPrompt(30, 5), 60)};
    for (uint64_t seed = 0; seed < 7; ++seed) {
      Request hot = HotRequest(RandomPrompt(30, 5), 60, seed);
      hot.sampling.temperature = 5;
      hot.sampling.repetition_penalty = 1.5f;
      hot.sampling.frequency_penalty = 1;
      hot.sampling.logit_bias = {{3, 50.0f}};
      requests.push_back(hot);
    }
    const auto engine = MakeEngine(weights, TogetherOptions(reduction));
    const auto together = RunTogether(*engine, requests);
    EXPECT_EQ(engine->counters().sequences_in_step_max, 8u);
    return AnswerBytes(together[0]) == AnswerBytes(RunAlone(weights, requests[0], reduction));
  });
}

}  // namespace
}  // namespace samebit::test
