// Rule A, attention with a fixed split.
//
// Keys and values are rounded to the cache's type when they are written and always read back from the cache, also for
// the token just computed. The keys of a sequence are cut into splits of 256, aligned to position 0. For one query
// head and one split, over its visible keys j in [begin, end):
//     score[j] = chain over the head dimension d ascending: acc = fma(q[d], k[j][d], acc), from 0; q is already scaled
//     max      = largest score (exact)
//     p[j]     = exp_neg(score[j] - max)
//     sum      = 16 lanes, lane j mod 16 by addition, j ascending, folded as in rule N
//     out[d]   = chain over j ascending: acc = fma(p[j], v[j][d], acc), from 0
// Splits are merged in ascending order into (max, sum, out), the first one copied:
//     m = Max(max_a, max_b); a = exp_neg(max_a - m); b = exp_neg(max_b - m)
//     sum = fma(sum_b, b, sum_a * a);  out[d] = fma(out_b[d], b, out_a[d] * a)
// and at the end out[d] * (1 / sum). A split without visible keys does not take part. Whoever computes a split, on
// whatever thread, and however the keys lie in memory, the sequence is the same. Pages of the cache divide 256.
#pragma once

#include <cstdint>

namespace samebit::arith {

inline constexpr uint32_t kAttentionSplitKeys = 256;

// One split's part for one query head.
struct AttentionPart {
  float max;
  float sum;
  float* out;  // [head_size]
};

// Keys and values of one split, already widened to binary32: keys [256][head_size], values [256][head_size], row j for
// the key at position 256 * split + j. Visible: begin <= j < end, begin < end <= 256.
void AttentionSplit(const float* query, uint32_t head_size, const float* keys, const float* values, uint32_t begin,
                    uint32_t end, AttentionPart* part);

// Merges `next` (the later split) into `running`.
void MergeAttention(AttentionPart* running, const AttentionPart& next, uint32_t head_size);

// running.out[d] * (1 / sum) into out [head_size].
void FinishAttention(const AttentionPart& running, uint32_t head_size, float* out);

}  // namespace samebit::arith
