// Rule S, sampling: logits -> one token id, with integer weights and a counter-based random number.
//
// Candidates have a total order: logit descending, then token id ascending, as one 64-bit key. Greedy is the first.
// Sampling weights are integers, round(exp_neg((logit - max) * (1/T)) * 2^30), summed in uint64, so that the order of
// the sum is free (a binary32 CDF picked another token in 8.6 % of 200,000 draws when only its order changed).
// One draw per position: Philox4x32-10 with key = seed and counter = (position, stream, sample index low, high).
// Top-k, top-p and min-p choose a set; the draw then runs over the survivors in id order.
#pragma once

#include <array>
#include <cstdint>

#include "arith/elementary.h"

namespace samebit::arith {

// Larger key = larger logit, then smaller id. -0 counts as +0. Logits are finite.
inline uint64_t CandidateKey(float logit, uint32_t id) {
  const uint32_t bits = BitsOf(logit + 0.0f);
  const uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (uint64_t{ordered} << 32) | (0xffffffffu - id);
}
inline uint32_t CandidateId(uint64_t key) { return 0xffffffffu - static_cast<uint32_t>(key); }

// Weight of a logit in [0, 2^30]; the largest logit has exactly 2^30. inverse_temperature = binary32(1 / T).
// The product with 2^30 is exact; the conversion rounds to nearest even.
inline uint32_t SamplingWeight(float logit, float max, float inverse_temperature) {
  const float scaled = ExpNeg((logit - max) * inverse_temperature) * 0x1p30f;
  // Adding 2^23 rounds values under 2^23 to integers; above, a binary32 value is one already.
  const float rounded = scaled < 0x1p23f ? (scaled + 0x1p23f) - 0x1p23f : scaled;
  return static_cast<uint32_t>(rounded);
}

// Philox4x32-10 (Salmon et al. 2011, Random123).
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// What a draw is for; a new use gets a new number, so that no two draws share a counter.
enum class RandomStream : uint32_t { kToken = 0 };

// 64 random bits for one position of one sample.
uint64_t RandomBits(uint64_t seed, uint64_t sample_index, uint32_t position, RandomStream stream);

// floor(random * total / 2^64): uniform in [0, total). The bias is under total / 2^64.
inline uint64_t DrawBelow(uint64_t random, uint64_t total) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(random) * total) >> 64);
}

// The seed of `n` samples' sample `i` is the request's own; the sample index is in the counter. For an answer that is
// tried again (attempt > 0) the seed is derived: no attempt repeats another's draws.
uint64_t SeedOfAttempt(uint64_t seed, uint32_t attempt);

}  // namespace samebit::arith
