// Many repeats and long answers under changing load.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "arith/test_support.h"
#include "support/engine_runs.h"

namespace samebit::test {
namespace {

struct Load {
  uint32_t repeats = 0;
  uint32_t tokens = 0;
  uint32_t at_once = 0;
};

// The distinct answers to one prompt, asked again and again among random neighbours that come and go.
std::set<std::string> AnswersUnderLoad(SharedWeights weights, const EngineOptions& options, const Request& probe,
                                       const Load& load) {
  const auto engine = MakeEngine(weights, options);
  arith::testing::Random random(2024);
  std::set<RequestId> probes, neighbours;
  std::set<std::string> answers;
  uint32_t asked = 0, answered = 0;
  while (answered < load.repeats) {
    while (asked < load.repeats && probes.size() < load.at_once && random.Below(3) != 0) {
      probes.insert(SubmitOrStop(*engine, probe));
      ++asked;
    }
    if (neighbours.size() < 6 && random.Below(8) == 0)
      neighbours.insert(SubmitOrStop(*engine, HotRequest(RandomPrompt(1 + random.Below(40), random.Bits64()),
                                                         1 + random.Below(30), random.Bits64())));
    if (random.Below(200) == 0) engine->DropPrefixCache();
    engine->Step();
    for (std::set<RequestId>* ids : {&probes, &neighbours}) {
      for (auto id = ids->begin(); id != ids->end();) {
        const auto completion = engine->Take(*id);
        if (!completion.has_value()) {
          ++id;
          continue;
        }
        if (ids == &probes) {
          answers.insert(AnswerBytes(completion->value()));
          ++answered;
        }
        id = ids->erase(id);
      }
    }
  }
  EXPECT_GT(engine->counters().sequences_in_step_max, load.at_once / 2);
  EXPECT_GT(engine->counters().preemptions, 0u);
  EXPECT_GT(engine->counters().cached_tokens, 0u);
  EXPECT_LE(engine->cache_bytes_used_max(), options.cache_bytes);
  return answers;
}

void ExpectOneAnswer(const TinyModel& model, const Load& load, uint32_t pages) {
  const SharedWeights weights = PackTiny(model);
  Request probe = HotRequest(RandomPrompt(24, 31), load.tokens, 42);
  probe.top_logprobs = 0;
  for (Reduction reduction : {Reduction::kLaw, Reduction::kControl}) {
    EngineOptions options = TogetherOptions(reduction);
    options.step_rows_max = 48;
    options.cache_bytes = BytesOfPages(*weights, options, pages);
    const Load this_load =
        reduction == Reduction::kLaw ? load : Load{std::min(load.repeats, 100u), load.tokens, load.at_once};
    const std::set<std::string> answers = AnswersUnderLoad(weights, options, probe, this_load);
    if (reduction == Reduction::kControl) {
      EXPECT_GT(answers.size(), 1u) << "the order-dependent arm gave one answer, too";
      continue;
    }
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(*answers.begin(), AnswerBytes(RunAlone(weights, probe, reduction)));
  }
}

TEST(LongRuns, a_thousand_repeats_of_64_tokens_give_one_answer) {
  ExpectOneAnswer({"llama-untied", false}, {1000, 64, 24}, 100);
}

TEST(LongRuns, eight_repeats_of_a_thousand_tokens_give_one_answer) {
  ExpectOneAnswer({"llama-q4_1", false}, {8, 1000, 8}, 300);
}

}  // namespace
}  // namespace samebit::test
