// Where each sampling parameter comes from: the request, the operator, the checkpoint, samebit's default.
#include "engine/effective_sampling.h"

#include <gtest/gtest.h>

namespace samebit::engine {
namespace {

TokenizerSpec SpecOf100() {
  TokenizerSpec spec;
  spec.vocabulary = 100;
  spec.stop_ids = {2, 7};
  return spec;
}

std::string SourceOf(const EffectiveSampling& effective, const std::string& name) {
  for (const EffectiveParameter& one : effective.parameters)
    if (one.name == name) return one.source;
  return "absent";
}

TEST(EffectiveSampling, the_request_wins_over_the_operator_and_the_operator_over_the_checkpoint) {
  SamplingSources sources;
  sources.server.temperature = 0.6f;
  sources.server.top_p = 0.9f;
  sources.checkpoint.temperature = 0.7f;
  sources.checkpoint.top_p = 0.95f;
  sources.checkpoint.min_p = 0.05f;
  sources.fresh_seed = [] { return uint64_t{4711}; };
  SamplingWish wish;
  wish.temperature = 0.5f;
  const EffectiveSampling effective = ResolveSampling(wish, sources, SpecOf100());
  EXPECT_EQ(effective.request.sampling.temperature, 0.5f);
  EXPECT_EQ(SourceOf(effective, "temperature"), "request");
  EXPECT_EQ(effective.request.sampling.top_p, 0.9f);
  EXPECT_EQ(SourceOf(effective, "top_p"), "server");
  EXPECT_EQ(effective.request.sampling.min_p, 0.05f);
  EXPECT_EQ(SourceOf(effective, "min_p"), "checkpoint");
  EXPECT_EQ(effective.request.sampling.seed, 4711u);
  EXPECT_EQ(SourceOf(effective, "top_k"), "server");
}

TEST(EffectiveSampling, a_greedy_answer_draws_no_seed) {
  SamplingSources sources;
  sources.fresh_seed = []() -> uint64_t { ADD_FAILURE() << "a seed was drawn"; return 1; };
  EXPECT_EQ(ResolveSampling({}, sources, SpecOf100()).request.sampling.seed, 0u);
}

TEST(EffectiveSampling, stop_ids_are_sorted_and_stand_once) {
  SamplingWish wish;
  wish.stop_ids = {9, 2, 9};
  EXPECT_EQ(ResolveSampling(wish, {}, SpecOf100()).request.stop_ids, (std::vector<TokenId>{2, 7, 9}));
  wish.ignore_eos = true;
  EXPECT_EQ(ResolveSampling(wish, {}, SpecOf100()).request.stop_ids, (std::vector<TokenId>{2, 9}));
}

TEST(EffectiveSampling, cuts_only_a_length_that_nobody_asked_for) {
  SamplingSources sources;
  sources.tokens_max_default = 1000;
  EffectiveSampling by_default = ResolveSampling({}, sources, SpecOf100());
  by_default.FitTokensMax(40);
  EXPECT_EQ(by_default.request.tokens_max, 40u);
  SamplingWish wish;
  wish.max_tokens = 1000;
  EffectiveSampling asked = ResolveSampling(wish, sources, SpecOf100());
  asked.FitTokensMax(40);
  EXPECT_EQ(asked.request.tokens_max, 1000u);
}

}  // namespace
}  // namespace samebit::engine
