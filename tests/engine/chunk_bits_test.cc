// Prefill in chunks, decode, and the scoring of prompts: scenarios 12 to 14.
#include <gtest/gtest.h>

#include "support/engine_runs.h"

namespace samebit::test {
namespace {

using engine::TokenRecord;

std::string RecordBytes(const TokenRecord& record) {
  engine::Choice choice;
  choice.tokens = {record};
  return ChoiceBytes(choice);
}

EngineOptions Chunked(Reduction reduction, uint32_t chunk) {
  EngineOptions options = TogetherOptions(reduction);
  options.prefill_chunk = chunk;
  options.step_rows_max = 512;
  return options;
}

TEST(ChunkBits, chunks_of_7_64_and_512_and_whole_prompts_equal_token_by_token) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    for (uint32_t chunk : {7u, 64u, 512u}) {
      ExpectLawAndNotControl([&](Reduction reduction) {
        const auto engine = MakeEngine(weights, Chunked(reduction, chunk));
        const Request request = GreedyRequest(RandomPrompt(600, 13), 20);
        const Completion completion = RunTogether(*engine, {request})[0];
        EXPECT_EQ(completion.trace.prefill_chunk_max, chunk);
        return AnswerBytes(completion) == AnswerBytes(RunAlone(weights, request, reduction));
      });
    }
  }
}

// What was generated is scored again as a prompt: one by one before, in one piece now.
bool ScoredAsGenerated(SharedWeights weights, Reduction reduction) {
  const Request request = HotRequest(RandomPrompt(25, 17), 60, 3);
  const Completion generated = RunAlone(weights, request, reduction);
  Request scoring = GreedyRequest(request.prompt, 1);
  for (const TokenRecord& token : generated.choices[0].tokens) scoring.prompt.push_back(token.id);
  scoring.score_prompt = true;
  const auto engine = MakeEngine(weights, Chunked(reduction, 64));
  const Completion scored = RunTogether(*engine, {scoring})[0];
  EXPECT_EQ(scored.prompt_records.size(), scoring.prompt.size() - 1);
  for (size_t i = 0; i < generated.choices[0].tokens.size(); ++i)
    if (RecordBytes(generated.choices[0].tokens[i]) !=
        RecordBytes(scored.prompt_records[request.prompt.size() - 1 + i]))
      return false;
  return true;
}

TEST(ChunkBits, a_scored_answer_has_the_log_probabilities_with_which_it_was_generated) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    ExpectLawAndNotControl([&](Reduction reduction) { return ScoredAsGenerated(weights, reduction); });
  }
}

TEST(ChunkBits, shared_positions_of_two_prompts_have_the_same_log_probabilities) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    Request first = GreedyRequest(RandomPrompt(50, 19), 4), second = first;
    second.prompt.resize(41);
    for (TokenId id : RandomPrompt(30, 20)) second.prompt.push_back(id);
    first.score_prompt = second.score_prompt = true;
    const auto together =
        RunTogether(*MakeEngine(weights, Chunked(reduction, 64)), {first, second, MixedRequests(1, 3)[0]});
    const Completion alone = RunTogether(*MakeEngine(weights, Chunked(reduction, 1)), {second})[0];
    bool equal = AnswerBytes(together[1]) == AnswerBytes(alone);
    for (size_t i = 0; i < 40; ++i)
      equal &= RecordBytes(together[0].prompt_records[i]) == RecordBytes(alone.prompt_records[i]);
    return equal;
  });
}

}  // namespace
}  // namespace samebit::test
