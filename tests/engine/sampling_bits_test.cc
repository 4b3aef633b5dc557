// Seeds, samples, ties and penalties through the whole engine: scenarios 17 to 23.
#include <gtest/gtest.h>

#include <set>

#include "support/edited_model.h"
#include "support/engine_runs.h"

namespace samebit::test {
namespace {

TEST(SamplingBits, a_seeded_request_keeps_its_stream_next_to_other_seeds) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    std::vector<Request> requests;
    for (uint64_t seed : {1u, 2u, 3u, 1u}) requests.push_back(HotRequest(RandomPrompt(20, 3), 40, seed));
    const auto together = RunTogether(*MakeEngine(weights, TogetherOptions(reduction)), requests);
    EXPECT_NE(AnswerBytes(together[0]), AnswerBytes(together[1]));
    return AnswerBytes(together[0]) == AnswerBytes(together[3]) &&
           AnswerBytes(together[0]) == AnswerBytes(RunAlone(weights, requests[0], reduction));
  });
}

TEST(SamplingBits, the_seed_that_is_reported_replays_the_answer) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  const Request request = HotRequest(RandomPrompt(20, 4), 40, 0xfedcba9876543210ull);
  const Completion answer = RunTogether(*MakeEngine(weights, TogetherOptions()), {request})[0];
  EXPECT_EQ(answer.seed, 0xfedcba9876543210ull);
  EXPECT_EQ(AnswerBytes(RunAlone(weights, HotRequest(request.prompt, 40, answer.seed), Reduction::kLaw)),
            AnswerBytes(answer));
}

TEST(SamplingBits, the_seed_matters_at_temperature_1_and_top_p_1) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  std::set<std::string> answers;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Request request = HotRequest(RandomPrompt(20, 5), 20, seed);
    request.sampling.temperature = 1;
    request.sampling.top_p = 1;
    answers.insert(AnswerBytes(RunAlone(weights, request, Reduction::kLaw)));
    EXPECT_EQ(answers.count(AnswerBytes(RunTogether(*MakeEngine(weights, TogetherOptions()), {request})[0])), 1u);
  }
  EXPECT_EQ(answers.size(), 8u);
}

TEST(SamplingBits, eight_samples_are_distinct_repeatable_and_each_can_be_made_again_alone) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    ExpectLawAndNotControl([&](Reduction reduction) {
      Request eight = HotRequest(RandomPrompt(21, 6), 30, 77);
      eight.samples = 8;
      const Completion first = RunTogether(*MakeEngine(weights, TogetherOptions(reduction)), {eight})[0];
      EXPECT_EQ(first.trace.sequences_in_step_max, 8u);
      std::set<std::vector<TokenId>> distinct;
      bool equal = true;
      // Again, between neighbours, with few slots, so that some samples start from nothing.
      EngineOptions options = TogetherOptions(reduction);
      options.sequences_max = 5;
      const Completion again =
          RunTogether(*MakeEngine(weights, options), {MixedRequests(1, 1)[0], eight, MixedRequests(1, 2)[0]})[1];
      equal &= AnswerBytes(again) == AnswerBytes(first);
      for (uint32_t i = 0; i < 8; ++i) {
        std::vector<TokenId> ids;
        for (const engine::TokenRecord& token : first.choices[i].tokens) ids.push_back(token.id);
        distinct.insert(ids);
        Request one = eight;
        one.samples = 1;
        one.first_sample_index = i;
        const Completion alone = RunAlone(weights, one, reduction);
        EXPECT_EQ(alone.choices[0].sample_index, i);
        equal &= ChoiceBytes(alone.choices[0]) == ChoiceBytes(first.choices[i]);
      }
      EXPECT_EQ(distinct.size(), 8u);
      return equal;
    });
  }
}

// A model whose output rows of `winner` and `twin` are the same, so that their logits are always equal.
SharedWeights WithTwin(TokenId winner, TokenId twin) {
  EditedModel edited(OpenTiny({"llama-untied", false}));
  std::vector<float>& rows = edited.EditTensor(model::Role::kOutput, 0);
  const size_t width = edited.config().width;
  std::copy_n(rows.begin() + static_cast<ptrdiff_t>(width) * winner, width,
              rows.begin() + static_cast<ptrdiff_t>(width) * twin);
  return Pack(edited);
}

TEST(SamplingBits, of_two_equal_largest_logits_the_lower_id_wins_everywhere) {
  const std::vector<TokenId> prompt = RandomPrompt(15, 8);
  const TokenId winner =
      RunAlone(PackTiny({"llama-untied", false}), GreedyRequest(prompt, 1), Reduction::kLaw).choices[0].tokens[0].id;
  ASSERT_GT(winner, 0);
  ASSERT_LT(winner, 269);
  for (TokenId twin : {winner - 1, winner + 1, winner < 135 ? 269 : 0}) {
    const SharedWeights weights = WithTwin(winner, twin);
    Request greedy = GreedyRequest(prompt, 1), top_1 = HotRequest(prompt, 1, 9);
    top_1.sampling.top_k = 1;
    for (kernels::Isa isa : kernels::AvailableIsas()) {
      EngineOptions options = TogetherOptions();
      options.isa = isa;
      std::vector<Request> requests = MixedRequests(5, 12);
      requests.push_back(greedy);
      requests.push_back(top_1);
      const auto together = RunTogether(*MakeEngine(weights, options), requests);
      const Completion alone = RunTogether(*MakeEngine(weights, options), {greedy})[0];
      for (const Completion* completion : {&together[5], &together[6], &alone}) {
        EXPECT_EQ(completion->choices[0].tokens[0].id, std::min(winner, twin)) << kernels::IsaName(isa);
        EXPECT_EQ(completion->choices[0].tokens[0].margin, 0.0f) << "the two logits are not equal";
      }
    }
  }
}

TEST(SamplingBits, penalties_see_the_requests_own_history_only) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 6; ++i) {
      Request request = HotRequest(RandomPrompt(20, 60 + i), 50, 1);
      request.sampling.repetition_penalty = 1.2f;
      request.sampling.presence_penalty = 0.5f;
      request.sampling.frequency_penalty = 0.7f;
      requests.push_back(request);
    }
    const bool equal = EqualAlone(*MakeEngine(weights, TogetherOptions(reduction)), weights, requests);
    Request plain = requests[0];
    plain.sampling.repetition_penalty = 1;
    plain.sampling.presence_penalty = plain.sampling.frequency_penalty = 0;
    EXPECT_NE(AnswerBytes(RunAlone(weights, plain, reduction)), AnswerBytes(RunAlone(weights, requests[0], reduction)));
    return equal;
  });
}

TEST(SamplingBits, a_seed_changes_nothing_of_a_greedy_answer) {
  const SharedWeights weights = PackTiny({"gemma3", false});
  Request request = GreedyRequest(RandomPrompt(20, 7), 30);
  const std::string unseeded = AnswerBytes(RunAlone(weights, request, Reduction::kLaw));
  request.sampling.seed = 12345;
  EXPECT_EQ(AnswerBytes(RunTogether(*MakeEngine(weights, TogetherOptions()), {request})[0]), unseeded);
  request.sampling.temperature = 1;
  request.sampling.top_k = 1;
  EXPECT_EQ(AnswerBytes(RunTogether(*MakeEngine(weights, TogetherOptions()), {request})[0]), unseeded);
}

}  // namespace
}  // namespace samebit::test
