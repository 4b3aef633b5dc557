#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "arith/sampling.h"
#include "arith/test_support.h"

namespace samebit::engine {
namespace {

using arith::testing::Random;

// A position with its logits, and tokens drawn from it on every instruction set.
struct Draws {
  std::vector<float> logits;
  SamplingParams params;
  std::vector<TokenId> prompt = {1, 2};
  std::vector<TokenId> answer, masked;

  TokenId Token(uint64_t sample_index = 0) const {
    SampleInput input;
    input.logits = logits.data();
    input.vocabulary = static_cast<uint32_t>(logits.size());
    input.params = &params;
    input.prompt = prompt;
    input.answer = answer;
    input.masked = masked;
    input.sample_index = sample_index;
    SamplerScratch scratch;
    const std::vector<float> before = logits;
    const TokenId token = SampleToken(kernels::Kernels(kernels::Isa::kScalar), input, scratch);
    for (kernels::Isa isa : kernels::AvailableIsas())
      EXPECT_EQ(SampleToken(kernels::Kernels(isa), input, scratch), token) << kernels::IsaName(isa);
    EXPECT_EQ(logits, before);
    return token;
  }
  std::set<TokenId> Seen(uint32_t count) {
    std::set<TokenId> seen;
    for (params.seed = 0; params.seed < count; ++params.seed) seen.insert(Token());
    return seen;
  }
};

Draws RandomDraws(uint32_t n, uint64_t seed, float spread = 2) {
  Random random(seed);
  Draws draws;
  draws.logits = random.Normals(n, spread);
  return draws;
}

// The candidates' order, and the sets that top-k, top-p and min-p choose, in the plainest words.
std::vector<TokenId> PlainSurvivors(const std::vector<float>& logits, const SamplingParams& params) {
  std::vector<TokenId> order;
  for (size_t id = 0; id < logits.size(); ++id) order.push_back(static_cast<TokenId>(id));
  std::stable_sort(order.begin(), order.end(), [&](TokenId a, TokenId b) { return logits[a] > logits[b]; });
  const auto weight = [&](TokenId id) {
    return arith::SamplingWeight(logits[id], logits[order[0]], 1.0f / params.temperature);
  };
  if (params.top_k > 0 && params.top_k < order.size()) order.resize(params.top_k);
  if (params.top_p < 1) {
    uint64_t total = 0, sum = 0;
    for (TokenId id : order) total += weight(id);
    size_t kept = 0;
    while (kept < order.size() &&
           static_cast<double>(sum) < static_cast<double>(params.top_p) * static_cast<double>(total))
      sum += weight(order[kept++]);
    order.resize(std::max<size_t>(kept, 1));
  }
  std::erase_if(order, [&](TokenId id) { return weight(id) < static_cast<double>(params.min_p) * 0x1p30; });
  std::erase_if(order, [&](TokenId id) { return weight(id) == 0; });
  std::sort(order.begin(), order.end());
  return order;
}

// The draw over the survivors in the order of their ids.
TokenId PlainDraw(const Draws& draws, uint64_t sample_index) {
  const std::vector<TokenId> survivors = PlainSurvivors(draws.logits, draws.params);
  const float max = *std::max_element(draws.logits.begin(), draws.logits.end());
  const auto weight = [&](TokenId id) {
    return arith::SamplingWeight(draws.logits[id], max, 1.0f / draws.params.temperature);
  };
  uint64_t total = 0;
  for (TokenId id : survivors) total += weight(id);
  const auto position = static_cast<uint32_t>(draws.prompt.size() + draws.answer.size());
  uint64_t target = arith::DrawBelow(
      arith::RandomBits(draws.params.seed, sample_index, position, arith::RandomStream::kToken), total);
  for (TokenId id : survivors) {
    if (target < weight(id)) return id;
    target -= weight(id);
  }
  ADD_FAILURE() << "the draw left its set";
  return -1;
}

TEST(Sampler, greedy_takes_the_largest_and_of_equal_ones_the_lowest_id) {
  Draws draws = RandomDraws(1000, 1);
  for (uint32_t low : {0u, 7u, 500u, 998u}) {
    draws.logits[low] = draws.logits[999] = draws.logits[std::min(999u, low + 16)] = 30;
    EXPECT_EQ(draws.Token(), static_cast<TokenId>(low));
    draws.logits[low] = std::nextafterf(30, 0);
    EXPECT_NE(draws.Token(), static_cast<TokenId>(low));
    draws.logits[low] = draws.logits[std::min(999u, low + 16)] = 0;
  }
  draws.logits.assign(50, -0.0f);
  draws.logits[20] = 0.0f;
  EXPECT_EQ(draws.Token(), 0) << "+0 and -0 are equal";
}

TEST(Sampler, top_k_1_is_greedy_at_any_temperature) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Draws draws = RandomDraws(300, seed);
    if (seed % 2 == 0) draws.logits[seed] = draws.logits[299] = 20;
    const TokenId greedy = draws.Token();
    draws.params.top_k = 1;
    draws.params.temperature = 0.1f + static_cast<float>(seed);
    draws.params.seed = seed * 77;
    EXPECT_EQ(draws.Token(), greedy);
  }
}

TEST(Sampler, draws_what_the_plain_algorithm_draws) {
  Random random(5);
  for (int i = 0; i < 1500; ++i) {
    Draws draws = RandomDraws(1 + random.Below(400), random.Bits64(), 0.5f + static_cast<float>(random.Below(4)));
    if (i % 5 == 0)  // many equal logits
      for (float& logit : draws.logits) logit = std::floor(logit);
    draws.params.temperature = 0.2f + 0.3f * static_cast<float>(random.Below(8));
    draws.params.seed = random.Bits64();
    if (random.Below(2) == 0) draws.params.top_k = 1 + random.Below(60);
    if (random.Below(2) == 0) draws.params.top_p = 0.01f * static_cast<float>(1 + random.Below(100));
    if (random.Below(2) == 0) draws.params.min_p = 0.01f * static_cast<float>(random.Below(50));
    draws.answer.assign(random.Below(5), 3);
    const uint64_t sample_index = random.Below(9);
    EXPECT_EQ(draws.Token(sample_index), PlainDraw(draws, sample_index)) << "case " << i;
  }
}

TEST(Sampler, every_survivor_is_drawn_and_nobody_else) {
  Draws draws = RandomDraws(60, 9, 1);
  draws.params.temperature = 1;
  draws.params.top_k = 12;
  draws.params.top_p = 0.9f;
  draws.params.min_p = 0.05f;
  const std::vector<TokenId> survivors = PlainSurvivors(draws.logits, draws.params);
  ASSERT_GT(survivors.size(), 4u);
  EXPECT_EQ(draws.Seen(3000), std::set<TokenId>(survivors.begin(), survivors.end()));
}

TEST(Sampler, top_p_counts_over_the_survivors_of_top_k) {
  Draws draws;
  // Weights 4 : 2 : 2 : 2 : 2. Of all, 0.5 is reached by two tokens; of the first two, by one.
  draws.logits = {std::log(4.0f), std::log(2.0f), std::log(2.0f), std::log(2.0f), std::log(2.0f)};
  draws.params.temperature = 1;
  draws.params.top_p = 0.5f;
  EXPECT_EQ(draws.Seen(300).size(), 2u);
  draws.params.top_k = 2;
  EXPECT_EQ(draws.Seen(300).size(), 1u);
}

TEST(Sampler, frequencies_are_those_of_the_softmax) {
  Draws draws = RandomDraws(12, 3, 1);
  draws.params.temperature = 0.8f;
  constexpr uint32_t kDraws = 20000;
  std::map<TokenId, uint32_t> counts;
  for (draws.params.seed = 0; draws.params.seed < kDraws / 4; ++draws.params.seed)
    for (uint64_t sample = 0; sample < 4; ++sample) ++counts[draws.Token(sample)];
  double total = 0, chi_square = 0;
  for (float logit : draws.logits) total += std::exp(logit / 0.8);
  for (TokenId id = 0; id < 12; ++id) {
    const double expected = kDraws * std::exp(draws.logits[id] / 0.8) / total;
    chi_square += (counts[id] - expected) * (counts[id] - expected) / expected;
  }
  EXPECT_LT(chi_square, 31.3);  // 11 degrees of freedom: 0.1 % of fair samples are above
  EXPECT_GT(chi_square, 1.0);
}

TEST(Sampler, the_seed_the_sample_and_the_position_each_change_the_stream) {
  Draws draws = RandomDraws(500, 4, 0.5f);
  draws.params.temperature = 1;  // and top_p is 1: the seed still matters
  const auto stream = [&](uint64_t seed, uint64_t sample, size_t answer_tokens) {
    std::vector<TokenId> tokens;
    for (size_t i = 0; i < 8; ++i) {
      draws.params.seed = seed;
      draws.answer.assign(answer_tokens + i, 0);
      tokens.push_back(draws.Token(sample));
    }
    return tokens;
  };
  const std::vector<TokenId> first = stream(1, 0, 0);
  EXPECT_EQ(stream(1, 0, 0), first);
  EXPECT_NE(stream(2, 0, 0), first);
  EXPECT_NE(stream(1ull << 32, 0, 0), stream(0, 0, 0));
  EXPECT_NE(stream(1, 1, 0), first);
  EXPECT_NE(stream(1, 0, 20), first);
}

TEST(Sampler, bias_then_penalties_then_the_mask) {
  Draws draws;
  draws.logits = {1, 2, 3, 4};
  draws.params.logit_bias = {{0, 10.0f}};
  EXPECT_EQ(draws.Token(), 0);
  // (1 + 10) / 3 = 3.67 is under 4; penalized before the bias it would be 10.33.
  draws.params.repetition_penalty = 3;
  draws.prompt = {0};
  EXPECT_EQ(draws.Token(), 3);
  // A mask is stronger than every bias.
  draws.params.logit_bias = {{2, 100.0f}};
  draws.masked = {2, 3};
  draws.params.repetition_penalty = 1;
  EXPECT_EQ(draws.Token(), 1);
  draws.params.temperature = 50;
  EXPECT_EQ(draws.Seen(300), (std::set<TokenId>{0, 1}));
}

TEST(Sampler, repetition_penalty_covers_the_prompt_once_and_pushes_negative_logits_down) {
  Draws draws;
  draws.logits = {6, 4, -1, -1.5f};
  draws.prompt = {0, 0, 0};
  draws.params.repetition_penalty = 1.45f;
  EXPECT_EQ(draws.Token(), 0);  // 6 / 1.45 = 4.14, however often it occurred
  draws.params.repetition_penalty = 1.55f;
  EXPECT_EQ(draws.Token(), 1);
  draws.logits = {-100, -100, -1, -1.5f};
  draws.prompt = {2};
  draws.params.repetition_penalty = 1.6f;
  EXPECT_EQ(draws.Token(), 3);
}

TEST(Sampler, presence_counts_once_and_frequency_each_time_over_the_answer_only) {
  Draws draws;
  draws.logits = {3, 2};
  draws.prompt = {0, 0, 0, 0};
  draws.params.presence_penalty = 0.9f;
  EXPECT_EQ(draws.Token(), 0);
  draws.answer = {0, 0, 0};
  EXPECT_EQ(draws.Token(), 0);
  draws.params.presence_penalty = 1.1f;
  EXPECT_EQ(draws.Token(), 1);
  draws.params.presence_penalty = 0;
  draws.params.frequency_penalty = 0.4f;
  EXPECT_EQ(draws.Token(), 1);  // 3 - 3 * 0.4
  draws.answer = {0, 0};
  EXPECT_EQ(draws.Token(), 0);
  draws.params.frequency_penalty = -2;
  draws.answer = {1};
  EXPECT_EQ(draws.Token(), 1);
}

TEST(Report, holds_log_probabilities_margin_and_first_candidates_of_the_raw_logits) {
  for (kernels::Isa isa : kernels::AvailableIsas()) {
    Random random(11);
    for (uint32_t n : {1u, 2u, 3u, 17u, 1025u}) {
      std::vector<float> logits = random.Normals(n, 3);
      if (n > 3) logits[2] = logits[n - 1] = 40;
      SamplerScratch scratch;
      const PositionReport report = ReportPosition(kernels::Kernels(isa), logits.data(), n, 5, true, scratch);
      EXPECT_EQ(report.logits_digest, Sha256::Of(logits.data(), n * sizeof(float)));
      ASSERT_EQ(report.top.size(), std::min(n, 5u));
      std::vector<float> sorted = logits;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      EXPECT_EQ(report.margin, n > 1 ? sorted[0] - sorted[1] : std::numeric_limits<float>::infinity());
      double total = 0;
      for (float logit : logits) total += std::exp(static_cast<double>(logit) - sorted[0]);
      for (size_t i = 0; i < report.top.size(); ++i) {
        EXPECT_EQ(logits[report.top[i].id], sorted[i]);
        EXPECT_NEAR(report.top[i].logprob, sorted[i] - sorted[0] - std::log(total), 1e-5);
      }
      if (n > 3) {
        EXPECT_EQ(report.top[0].id, 2);
        EXPECT_EQ(report.top[1].id, static_cast<TokenId>(n - 1));
        EXPECT_EQ(report.margin, 0.0f);
      }
      const TokenRecord record = RecordOf(report, logits.data(), 0, 2);
      EXPECT_EQ(record.id, 0);
      EXPECT_EQ(record.top.size(), std::min(n, 2u));
      EXPECT_NEAR(record.logprob, logits[0] - sorted[0] - std::log(total), 1e-5);
    }
  }
}

}  // namespace
}  // namespace samebit::engine
