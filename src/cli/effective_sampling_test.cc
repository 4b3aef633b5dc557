// Where each sampling parameter comes from: the flag, then the checkpoint, then samebit's default.
#include "cli/effective_sampling.h"

#include <gtest/gtest.h>

namespace samebit::cli {
namespace {

TokenizerSpec SpecOf100() {
  TokenizerSpec spec;
  spec.vocabulary = 100;
  spec.stop_ids = {2, 7};
  return spec;
}

Result<EffectiveSampling> Resolve(const SamplingFlags& flags, const CheckpointSampling& checkpoint = {}) {
  world::FakeEntropy entropy(4711);
  return ResolveSampling(flags, checkpoint, SpecOf100(), entropy);
}

const EffectiveParameter& Find(const EffectiveSampling& effective, const std::string& name) {
  for (const EffectiveParameter& one : effective.parameters) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no parameter " + name);
}

TEST(EffectiveSampling, is_greedy_where_nobody_says_anything) {
  const auto effective = Resolve({});
  ASSERT_TRUE(effective.ok());
  EXPECT_EQ(effective->request.sampling.temperature, 0);
  EXPECT_EQ(effective->request.sampling.seed, 0u);
  EXPECT_EQ(effective->request.tokens_max, kTokensMaxDefault);
  EXPECT_EQ(effective->request.stop_ids, (std::vector<TokenId>{2, 7}));
  EXPECT_STREQ(Find(*effective, "temperature").source, "server");
  EXPECT_STREQ(Find(*effective, "stop_ids").source, "checkpoint");
}

TEST(EffectiveSampling, a_flag_wins_over_the_checkpoint) {
  SamplingFlags flags;
  flags.temperature = 0.5f;
  CheckpointSampling checkpoint;
  checkpoint.temperature = 0.7f;
  checkpoint.top_k = 20;
  const auto effective = Resolve(flags, checkpoint);
  ASSERT_TRUE(effective.ok());
  EXPECT_EQ(effective->request.sampling.temperature, 0.5f);
  EXPECT_STREQ(Find(*effective, "temperature").source, "request");
  EXPECT_EQ(effective->request.sampling.top_k, 20u);
  EXPECT_STREQ(Find(*effective, "top_k").source, "checkpoint");
}

TEST(EffectiveSampling, a_checkpoint_that_does_not_sample_is_greedy) {
  CheckpointSampling checkpoint;
  checkpoint.temperature = 0.7f;
  checkpoint.do_sample = false;
  EXPECT_EQ(Resolve({}, checkpoint)->request.sampling.temperature, 0);
  checkpoint.do_sample = true;
  EXPECT_EQ(Resolve({}, checkpoint)->request.sampling.temperature, 0.7f);
  checkpoint.temperature.reset();
  EXPECT_EQ(Resolve({}, checkpoint)->request.sampling.temperature, 1);
}

TEST(EffectiveSampling, a_sampled_request_without_a_seed_gets_one_and_reports_it) {
  SamplingFlags flags;
  flags.temperature = 0.8f;
  EXPECT_EQ(Resolve(flags)->request.sampling.seed, 4711u);
  EXPECT_EQ(Find(*Resolve(flags), "seed").json, "\"4711\"");
  flags.seed = UINT64_MAX;
  EXPECT_EQ(Find(*Resolve(flags), "seed").json, "\"18446744073709551615\"");
  EXPECT_STREQ(Find(*Resolve(flags), "seed").source, "request");
}

TEST(EffectiveSampling, refuses_what_means_nothing) {
  const auto refused = [](const SamplingFlags& flags) { return !Resolve(flags).ok(); };
  SamplingFlags cold;
  cold.temperature = 0.001f;
  EXPECT_TRUE(refused(cold));
  SamplingFlags lengths;
  lengths.max_tokens = 4;
  lengths.min_tokens = 5;
  EXPECT_TRUE(refused(lengths));
  SamplingFlags hot_beam;
  hot_beam.temperature = 1.0f;
  hot_beam.beam_width = 4;
  EXPECT_TRUE(refused(hot_beam));
  SamplingFlags many;
  many.beam_width = 2;
  many.samples = 3;
  EXPECT_TRUE(refused(many));
  SamplingFlags stranger;
  stranger.stop_ids = {100};
  EXPECT_TRUE(refused(stranger));
  SamplingFlags bias;
  bias.logit_bias = {{100, 1.0f}};
  EXPECT_TRUE(refused(bias));
}

TEST(EffectiveSampling, cuts_a_default_length_to_the_room_and_never_one_that_was_asked_for) {
  auto effective = Resolve({}).value();
  effective.FitTokensMax(10);
  EXPECT_EQ(effective.request.tokens_max, 10u);
  EXPECT_EQ(Find(effective, "max_tokens").json, "10");
  SamplingFlags flags;
  flags.max_tokens = 50;
  auto asked = Resolve(flags).value();
  asked.FitTokensMax(10);
  EXPECT_EQ(asked.request.tokens_max, 50u);
}

}  // namespace
}  // namespace samebit::cli
