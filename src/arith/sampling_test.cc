#include "arith/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "arith/test_support.h"
#include "base/limits.h"

namespace samebit::arith {
namespace {

using testing::kThinning;
using testing::Random;

TEST(CandidateKey, orders_by_logit_then_by_smaller_id) {
  const float largest = std::numeric_limits<float>::max();
  const float ascending[] = {-largest, -1.0f, -0x1p-149f, 0.0f, 0x1p-149f, 1.0f, largest};
  for (size_t i = 0; i + 1 < std::size(ascending); ++i)
    EXPECT_LT(CandidateKey(ascending[i], 0), CandidateKey(ascending[i + 1], 0xffffffff));
  EXPECT_GT(CandidateKey(1.0f, 3), CandidateKey(1.0f, 4));
  EXPECT_GT(CandidateKey(-1.0f, 3), CandidateKey(-1.0f, 4));
}

TEST(CandidateKey, the_two_zeros_are_one_logit) {
  EXPECT_EQ(CandidateKey(-0.0f, 7), CandidateKey(0.0f, 7));
  EXPECT_GT(CandidateKey(-0.0f, 6), CandidateKey(0.0f, 7));
}

TEST(CandidateKey, agrees_with_a_comparison_on_random_logits_and_gives_the_id_back) {
  Random random(30);
  for (uint64_t i = 0; i < 500'000 / kThinning; ++i) {
    const float a = FloatOf(random.Bits32()), b = FloatOf(random.Below(4) ? random.Bits32() : BitsOf(a));
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const uint32_t id_a = random.Bits32(), id_b = random.Bits32();
    ASSERT_EQ(CandidateKey(a, id_a) > CandidateKey(b, id_b), a > b || (a == b && id_a < id_b));
    ASSERT_EQ(CandidateId(CandidateKey(a, id_a)), id_a);
  }
}

// The known answers that the authors publish with Random123.
TEST(Philox, gives_the_published_answers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(Philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBits, no_two_places_share_a_draw) {
  std::set<uint64_t> seen;
  for (uint64_t seed : {0ull, 1ull, 1ull << 32, ~0ull})
    for (uint64_t sample : {0ull, 1ull, 1ull << 32})
      for (uint32_t position = 0; position < 100; ++position)
        EXPECT_TRUE(seen.insert(RandomBits(seed, sample, position, RandomStream::kToken)).second);
  // Frozen: the counter's layout is part of samebit-arith/1.
  EXPECT_EQ(RandomBits(0, 0, 0, RandomStream::kToken), 0xe169c58d6627e8d5ull);
}

TEST(SeedOfAttempt, the_first_attempt_keeps_the_seed_and_later_ones_differ) {
  std::set<uint64_t> seeds;
  for (uint32_t attempt = 0; attempt < 1000; ++attempt) EXPECT_TRUE(seeds.insert(SeedOfAttempt(42, attempt)).second);
  EXPECT_EQ(SeedOfAttempt(42, 0), 42u);
}

TEST(SamplingWeight, is_2_to_the_30_for_the_largest_and_falls_to_zero) {
  EXPECT_EQ(SamplingWeight(3.5f, 3.5f, 1.25f), 1u << 30);
  EXPECT_EQ(SamplingWeight(-88.0f, 0.0f, 1.0f), 0u);
  EXPECT_EQ(SamplingWeight(-1.0f, 0.0f, 1e30f), 0u);
  EXPECT_EQ(SamplingWeight(-std::numeric_limits<float>::max(), std::numeric_limits<float>::max(), 1.0f), 0u);
  EXPECT_EQ(SamplingWeight(-5.0f, 3.0f, 0.0f), 1u << 30);  // infinite temperature: all equal
}

TEST(SamplingWeight, is_the_nearest_integer_to_the_scaled_exponential) {
  Random random(31);
  for (uint64_t i = 0; i < 500'000 / kThinning; ++i) {
    const float logit = -25.0f * std::fabs(random.Signed());
    const float inverse = 0.5f + std::fabs(random.Signed());
    const uint32_t weight = SamplingWeight(logit, 0.0f, inverse);
    ASSERT_LE(weight, 1u << 30);
    ASSERT_EQ(weight, std::nearbyint(double{ExpNeg(logit * inverse)} * 0x1p30));
    ASSERT_NEAR(weight, std::exp(double{logit} * inverse) * 0x1p30, 0.51 + weight * 1.2e-6);
  }
}

// 2^30 weights of a vocabulary of 2^21 fit into 64 bits with room.
TEST(SamplingWeight, sums_of_the_largest_vocabulary_fit) {
  EXPECT_LE((uint64_t{1} << 30) * limits::kVocabularyMax, uint64_t{1} << 51);
}

TEST(DrawBelow, covers_its_range_and_nothing_else) {
  EXPECT_EQ(DrawBelow(0, 10), 0u);
  EXPECT_EQ(DrawBelow(~0ull, 10), 9u);
  EXPECT_EQ(DrawBelow(~0ull, 1), 0u);
  EXPECT_EQ(DrawBelow(1ull << 63, 10), 5u);
  EXPECT_EQ(DrawBelow((1ull << 63) - 1, 10), 4u);
  EXPECT_EQ(DrawBelow(~0ull, ~0ull), ~0ull - 1);
}

// Chi-square with 5 degrees of freedom: 20.5 is exceeded by chance once in 1,000; the seed is fixed, so this run never.
TEST(Sampling, draws_follow_the_softmax) {
  const float logits[] = {1.0f, 0.0f, -0.5f, 2.0f, -3.0f, 0.7f};
  uint64_t weights[6], total = 0;
  double probability[6], sum = 0;
  for (int i = 0; i < 6; ++i) total += weights[i] = SamplingWeight(logits[i], 2.0f, 1.0f / 0.8f);
  for (int i = 0; i < 6; ++i) sum += probability[i] = std::exp(logits[i] / 0.8);
  const uint32_t draws = 400'000;
  uint32_t counts[6] = {};
  for (uint32_t position = 0; position < draws; ++position) {
    uint64_t draw = DrawBelow(RandomBits(12345, 0, position, RandomStream::kToken), total);
    int i = 0;
    while (draw >= weights[i]) draw -= weights[i++];
    ++counts[i];
  }
  double chi_square = 0;
  for (int i = 0; i < 6; ++i) {
    const double expected = draws * probability[i] / sum;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 20.5);
  EXPECT_GT(chi_square, 0.2);  // too even would not be random either
}

}  // namespace
}  // namespace samebit::arith
