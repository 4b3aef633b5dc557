#include "verify/compare.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

TEST(Compare, an_equal_answer_is_exact) {
  const engine::Choice base = MadeUpChoice(8);
  const SampleReport report = CompareWithBase(base, 8, &base);
  EXPECT_TRUE(report.exact());
  EXPECT_EQ(report.first_token_divergence, std::nullopt);
  EXPECT_EQ(report.first_bit_divergence, std::nullopt);
  EXPECT_EQ(report.logprob_difference_max, 0.0);
}

TEST(Compare, a_shorter_answer_is_compared_with_the_beginning_of_the_base) {
  const engine::Choice base = MadeUpChoice(8), found = MadeUpChoice(3);
  EXPECT_TRUE(CompareWithBase(base, 3, &found).exact());
  EXPECT_FALSE(CompareWithBase(base, 4, &found).exact());
}

TEST(Compare, finds_a_flipped_token) {
  const engine::Choice base = MadeUpChoice(8);
  engine::Choice found = base;
  found.tokens[5].id += 1;
  found.tokens[5].margin = 0.125f;
  found.tokens[5].top[4].id = 9999;
  found.tokens[5].logits_digest = Sha256::Of("other");
  const SampleReport report = CompareWithBase(base, 8, &found);
  EXPECT_FALSE(report.tokens_equal);
  EXPECT_EQ(report.first_token_divergence, 5u);
  EXPECT_EQ(report.first_bit_divergence, 5u);
  EXPECT_EQ(report.margin_base, base.tokens[5].margin);
  EXPECT_EQ(report.margin_found, 0.125f);
  EXPECT_EQ(report.top_shared_at, 4u);
  EXPECT_EQ(report.top_shared_before, 5u);
}

TEST(Compare, a_flipped_token_over_equal_logits_shows_no_different_bits) {
  const engine::Choice base = MadeUpChoice(8);
  engine::Choice found = base;
  found.tokens[2].id += 1;
  const SampleReport report = CompareWithBase(base, 8, &found);
  EXPECT_EQ(report.first_token_divergence, 2u);
  EXPECT_EQ(report.first_bit_divergence, std::nullopt);
  EXPECT_FALSE(report.logprobs_equal);
}

TEST(Compare, finds_one_flipped_bit_of_a_log_probability) {
  const engine::Choice base = MadeUpChoice(8);
  engine::Choice found = base;
  found.tokens[6].logprob = std::bit_cast<float>(std::bit_cast<uint32_t>(found.tokens[6].logprob) ^ 1u);
  const SampleReport report = CompareWithBase(base, 8, &found);
  EXPECT_TRUE(report.tokens_equal);
  EXPECT_FALSE(report.logprobs_equal);
  EXPECT_TRUE(report.logits_equal);
  EXPECT_FALSE(report.exact());
  EXPECT_EQ(report.first_bit_divergence, 6u);
  EXPECT_GT(*report.logprob_difference_max, 0.0);
}

TEST(Compare, zero_and_minus_zero_are_different_bits) {
  engine::Choice base = MadeUpChoice(2);
  base.tokens[1].logprob = 0.0f;
  engine::Choice found = base;
  found.tokens[1].logprob = -0.0f;
  EXPECT_FALSE(CompareWithBase(base, 2, &found).logprobs_equal);
}

TEST(Compare, equal_not_a_numbers_are_equal_bits) {
  engine::Choice base = MadeUpChoice(2);
  base.tokens[1].margin = std::nanf("1");
  EXPECT_TRUE(CompareWithBase(base, 2, &base).logprobs_equal);
}

TEST(Compare, finds_a_changed_candidate) {
  const engine::Choice base = MadeUpChoice(4);
  engine::Choice found = base;
  found.tokens[1].top.pop_back();
  EXPECT_FALSE(CompareWithBase(base, 4, &found).logprobs_equal);
}

TEST(Compare, finds_a_changed_logits_digest) {
  const engine::Choice base = MadeUpChoice(4);
  engine::Choice found = base;
  found.tokens[3].logits_digest.bytes[31] ^= 1;
  const SampleReport report = CompareWithBase(base, 4, &found);
  EXPECT_TRUE(report.tokens_equal);
  EXPECT_TRUE(report.logprobs_equal);
  EXPECT_FALSE(report.logits_equal);
  EXPECT_EQ(report.first_bit_divergence, 3u);
}

TEST(Compare, finds_a_missing_sample) {
  const SampleReport report = CompareWithBase(MadeUpChoice(4), 4, nullptr);
  EXPECT_FALSE(report.exact());
  EXPECT_FALSE(report.tokens_equal);
  EXPECT_FALSE(report.logits_equal);
  EXPECT_EQ(report.tokens_found, 0u);
  EXPECT_EQ(report.first_token_divergence, 0u);
}

TEST(Compare, finds_another_end) {
  const engine::Choice base = MadeUpChoice(4);
  engine::Choice found = base;
  found.finish_reason = engine::FinishReason::kStop;
  EXPECT_FALSE(CompareWithBase(base, 4, &found).tokens_equal);
  found = MadeUpChoice(5);
  EXPECT_EQ(CompareWithBase(base, 5, &found).first_token_divergence, 4u);
}

}  // namespace
}  // namespace samebit::verify
