// Preemption, the memory budget, and cancellation: scenario 15.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/engine_runs.h"

namespace samebit::test {
namespace {

TEST(PreemptionBits, twice_once_in_the_middle_of_a_recovery_while_a_newcomer_joins) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    ExpectLawAndNotControl([&](Reduction reduction) {
      EngineOptions options = TogetherOptions(reduction);
      options.prefill_chunk = 3;
      options.prefix_cache = false;
      options.preempt_every_steps = 9;
      const auto engine = MakeEngine(weights, options);
      const Request first = HotRequest(RandomPrompt(30, 23), 30, 5), newcomer = HotRequest(RandomPrompt(20, 24), 20, 6);
      // Preemptions between two tokens: a second one there came before the first was made good.
      uint64_t preemptions_at_token = 0, preemptions_between_max = 0;
      RequestId newcomer_id = 0;
      const RequestId first_id =
          SubmitOrStop(*engine, first, [&](uint32_t, const engine::TokenRecord&, std::string_view) {
            preemptions_between_max =
                std::max(preemptions_between_max, engine->counters().preemptions - preemptions_at_token);
            preemptions_at_token = engine->counters().preemptions;
          });
      while (engine->Step()) {
        if (newcomer_id == 0 && engine->counters().preemptions == preemptions_at_token + 2)
          newcomer_id = SubmitOrStop(*engine, newcomer);
      }
      EXPECT_NE(newcomer_id, 0u) << "no recovery was interrupted";
      const Completion first_answer = TakeOrStop(*engine, first_id), newcomer_answer = TakeOrStop(*engine, newcomer_id);
      EXPECT_GE(first_answer.trace.preemptions, 2u);
      EXPECT_GE(preemptions_between_max, 2u);
      EXPECT_EQ(first_answer.trace.sequences_in_step_max, 2u);
      return AnswerBytes(first_answer) == AnswerBytes(RunAlone(weights, first, reduction)) &&
             AnswerBytes(newcomer_answer) == AnswerBytes(RunAlone(weights, newcomer, reduction));
    });
  }
}

TEST(PreemptionBits, for_want_of_pages_within_the_budget) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  for (bool prefix_cache : {false, true}) {
    ExpectLawAndNotControl([&](Reduction reduction) {
      EngineOptions options = TogetherOptions(reduction);
      options.prefix_cache = prefix_cache;
      options.prefill_chunk = 16;
      options.cache_bytes = BytesOfPages(*weights, options, 14);
      std::vector<Request> requests;
      for (uint32_t i = 0; i < 6; ++i) requests.push_back(HotRequest(RandomPrompt(20 + i, 40 + i), 90, i));
      const auto engine = MakeEngine(weights, options);
      const auto together = RunTogether(*engine, requests);
      EXPECT_GT(engine->counters().preemptions, 0u);
      EXPECT_GT(engine->counters().sequences_in_step_max, 1u);
      EXPECT_LE(engine->cache_bytes_used_max(), options.cache_bytes);
      EXPECT_GT(engine->cache_bytes_used_max(), options.cache_bytes / 2);
      bool equal = true;
      for (size_t i = 0; i < requests.size(); ++i)
        equal &= AnswerBytes(together[i]) == AnswerBytes(RunAlone(weights, requests[i], reduction));
      return equal;
    });
  }
}

TEST(PreemptionBits, a_long_prompt_in_small_chunks_is_done_although_every_step_preempts) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  EngineOptions options = TogetherOptions();
  options.prefill_chunk = 1;
  options.prefix_cache = false;
  options.preempt_every_steps = 1;
  const auto engine = MakeEngine(weights, options);
  const Request request = GreedyRequest(RandomPrompt(50, 25), 5);
  const RequestId id = SubmitOrStop(*engine, request);
  for (int step = 0; step < 5000 && engine->Step(); ++step) {
  }
  EXPECT_EQ(AnswerBytes(TakeOrStop(*engine, id)), AnswerBytes(RunAlone(weights, request, Reduction::kLaw)));
  EXPECT_GT(engine->counters().preemptions, 2u);
}

TEST(CancellationBits, frees_the_slot_and_leaves_the_neighbours_bits) {
  const SharedWeights weights = PackTiny({"gemma3", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    EngineOptions options = TogetherOptions(reduction);
    options.sequences_max = 3;
    const auto engine = MakeEngine(weights, options);
    std::vector<Request> requests = MixedRequests(4, 600);  // the fourth has to wait for a slot
    for (Request& request : requests) request.tokens_max = 40;
    std::vector<RequestId> ids;
    for (const Request& request : requests) ids.push_back(SubmitOrStop(*engine, request));
    for (int step = 0; step < 10; ++step) engine->Step();
    engine->Cancel(ids[1]);
    engine->Step();
    const Completion cancelled = TakeOrStop(*engine, ids[1]);
    EXPECT_EQ(cancelled.choices[0].finish_reason, engine::FinishReason::kCancelled);
    EXPECT_GT(cancelled.choices[0].tokens.size(), 0u);
    EXPECT_LT(cancelled.choices[0].tokens.size(), 40u);
    bool fourth_ran_with_others = false;
    while (engine->Step()) {
    }
    bool equal = true;
    for (size_t i : {0, 2, 3}) {
      const Completion completion = TakeOrStop(*engine, ids[i]);
      if (i == 3) fourth_ran_with_others = completion.trace.sequences_in_step_max == 3;
      equal &= AnswerBytes(completion) == AnswerBytes(RunAlone(weights, requests[i], reduction));
    }
    EXPECT_TRUE(fourth_ran_with_others);
    // What the cancelled request said so far is the beginning of what it would have said.
    const Completion whole = RunAlone(weights, requests[1], reduction);
    for (size_t i = 0; i < cancelled.choices[0].tokens.size(); ++i)
      equal &= cancelled.choices[0].tokens[i].logits_digest == whole.choices[0].tokens[i].logits_digest;
    return equal;
  });
}

TEST(CancellationBits, of_a_waiting_request_ends_it_without_a_step) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  const auto engine = MakeEngine(weights, TogetherOptions());
  const RequestId id = SubmitOrStop(*engine, GreedyRequest(RandomPrompt(5, 1), 5));
  engine->Cancel(id);
  EXPECT_FALSE(engine->Step());
  EXPECT_EQ(TakeOrStop(*engine, id).choices[0].finish_reason, engine::FinishReason::kCancelled);
  EXPECT_FALSE(engine->Take(id).has_value());
}

}  // namespace
}  // namespace samebit::test
