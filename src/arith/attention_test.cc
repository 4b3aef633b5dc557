#include "arith/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "arith/elementary.h"
#include "arith/norm.h"
#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::Random;

// One query over keys [first, last) of a sequence, by splits aligned to position 0.
std::vector<float> Attend(const std::vector<float>& query, const std::vector<float>& keys,
                          const std::vector<float>& values, uint32_t first, uint32_t last) {
  const uint32_t head = static_cast<uint32_t>(query.size());
  std::vector<float> running_out(head), next_out(head), out(head);
  AttentionPart running{0, 0, running_out.data()};
  bool started = false;
  for (uint32_t split = first / 256; split * 256 < last; ++split) {
    const uint32_t base = split * 256, begin = std::max(first, base) - base, end = std::min(last, base + 256) - base;
    AttentionPart next{0, 0, next_out.data()};
    AttentionPart* part = started ? &next : &running;
    AttentionSplit(query.data(), head, &keys[uint64_t{base} * head], &values[uint64_t{base} * head], begin, end, part);
    if (started) MergeAttention(&running, next, head);
    started = true;
  }
  FinishAttention(running, head, out.data());
  return out;
}

std::vector<double> Exact(const std::vector<float>& query, const std::vector<float>& keys,
                          const std::vector<float>& values, uint32_t first, uint32_t last) {
  const size_t head = query.size();
  std::vector<double> scores, out(head);
  double max = -1e300, sum = 0;
  for (uint32_t j = first; j < last; ++j) {
    double score = 0;
    for (size_t d = 0; d < head; ++d) score += double{query[d]} * keys[j * head + d];
    scores.push_back(score);
    max = std::max(max, score);
  }
  for (double& score : scores) sum += score = std::exp(score - max);
  for (uint32_t j = first; j < last; ++j)
    for (size_t d = 0; d < head; ++d) out[d] += scores[j - first] / sum * values[j * head + d];
  return out;
}

struct Case {
  std::vector<float> query, keys, values;
  Case(uint32_t head, uint32_t count, float sharpness, Random& random)
      : query(random.Normals(head, sharpness)), keys(random.Normals(uint64_t{head} * (count + 255))),
        values(random.Normals(uint64_t{head} * (count + 255))) {}
};

TEST(Attention, is_near_binary64_for_every_number_of_keys) {
  Random random(25);
  for (uint32_t head : {64u, 128u})
    for (uint32_t count : {1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u, 511u, 512u, 1000u})
      for (float sharpness : {0.05f, 0.3f, 1.0f}) {
        const Case c(head, count, sharpness, random);
        const auto got = Attend(c.query, c.keys, c.values, 0, count);
        const auto exact = Exact(c.query, c.keys, c.values, 0, count);
        for (uint32_t d = 0; d < head; ++d) ASSERT_NEAR(got[d], exact[d], 1e-5) << count << " keys";
      }
}

TEST(Attention, one_key_gives_its_value_exactly) {
  Random random(26);
  const Case c(64, 300, 1.0f, random);
  for (uint32_t j : {0u, 255u, 256u, 299u}) {
    const auto got = Attend(c.query, c.keys, c.values, j, j + 1);
    for (uint32_t d = 0; d < 64; ++d) ASSERT_EQ(got[d], c.values[j * 64 + d]);
  }
}

TEST(Attention, a_window_sees_only_its_keys) {
  Random random(27);
  Case c(64, 1000, 0.3f, random);
  for (auto [first, last] : {std::pair{0u, 1u}, {3u, 9u}, {200u, 256u}, {250u, 300u}, {256u, 768u}, {500u, 1000u}}) {
    const auto got = Attend(c.query, c.keys, c.values, first, last);
    const auto exact = Exact(c.query, c.keys, c.values, first, last);
    for (uint32_t d = 0; d < 64; ++d) ASSERT_NEAR(got[d], exact[d], 1e-5);
    // What lies outside the window, even NaN, cannot show.
    Case poisoned = c;
    for (uint32_t j = 0; j < 1000; ++j)
      if (j < first || j >= last)
        for (uint32_t d = 0; d < 64; ++d) poisoned.keys[j * 64 + d] = poisoned.values[j * 64 + d] = NAN;
    EXPECT_EQ(Attend(c.query, poisoned.keys, poisoned.values, first, last), got);
  }
}

// The rule of one split, written a second time.
TEST(AttentionSplit, equals_the_stated_sequence_bit_for_bit) {
  Random random(28);
  const uint32_t head = 64, begin = 5, end = 201;
  const Case c(head, 256, 0.5f, random);
  std::vector<float> out(head), scores(256);
  AttentionPart part{0, 0, out.data()};
  AttentionSplit(c.query.data(), head, c.keys.data(), c.values.data(), begin, end, &part);
  float max = -INFINITY, lanes[kLanes] = {};
  for (uint32_t j = begin; j < end; ++j) {
    for (uint32_t d = 0; d < head; ++d) scores[j] = std::fma(c.query[d], c.keys[j * head + d], scores[j]);
    max = std::max(max, scores[j]);
  }
  for (uint32_t j = begin; j < end; ++j) lanes[j % 16] += scores[j] = ExpNeg(scores[j] - max);
  EXPECT_EQ(BitsOf(part.max), BitsOf(max));
  EXPECT_EQ(BitsOf(part.sum), BitsOf(FoldLanes(lanes)));
  for (uint32_t d = 0; d < head; ++d) {
    float acc = 0;
    for (uint32_t j = begin; j < end; ++j) acc = std::fma(scores[j], c.values[j * head + d], acc);
    ASSERT_EQ(BitsOf(out[d]), BitsOf(acc));
  }
}

TEST(MergeAttention, keeps_the_larger_maximum_on_either_side) {
  for (float other : {-200.0f, -1.0f, 0.0f, 1.0f, 200.0f}) {
    float a_out[1] = {3.0f}, b_out[1] = {5.0f}, result[1];
    AttentionPart a{0.0f, 1.0f, a_out};
    const AttentionPart b{other, 1.0f, b_out};
    MergeAttention(&a, b, 1);
    FinishAttention(a, 1, result);
    const double weight = std::exp(double{other});
    EXPECT_EQ(a.max, std::max(0.0f, other));
    EXPECT_NEAR(result[0], other > 100 ? 5.0 : (3 + 5 * weight) / (1 + weight), 1e-6);
  }
}

// Splits are part of the law: cutting the same keys elsewhere gives other bits (so the alignment must be kept).
TEST(Attention, another_cut_gives_other_bits) {
  Random random(29);
  const Case c(64, 512, 0.5f, random);
  const auto law = Attend(c.query, c.keys, c.values, 0, 400);
  std::vector<float> first(64), second(64), out(64);
  AttentionPart running{0, 0, first.data()}, next{0, 0, second.data()};
  AttentionSplit(c.query.data(), 64, c.keys.data(), c.values.data(), 0, 200, &running);
  AttentionSplit(c.query.data(), 64, &c.keys[200 * 64], &c.values[200 * 64], 0, 200, &next);
  MergeAttention(&running, next, 64);
  FinishAttention(running, 64, out.data());
  EXPECT_NE(out, law);
}

}  // namespace
}  // namespace samebit::arith
