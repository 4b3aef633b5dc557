#include "arith/attention.h"

#include "arith/elementary.h"
#include "arith/norm.h"

namespace samebit::arith {

void AttentionSplit(const float* query, uint32_t head_size, const float* keys, const float* values, uint32_t begin,
                    uint32_t end, AttentionPart* part) {
  float scores[kAttentionSplitKeys] = {};
  for (uint32_t j = begin; j < end; ++j) {
    const float* key = keys + uint64_t{j} * head_size;
    float acc = 0;
    for (uint32_t d = 0; d < head_size; ++d) acc = Fma(query[d], key[d], acc);
    scores[j] = acc;
  }
  float max = scores[begin];
  for (uint32_t j = begin + 1; j < end; ++j) max = Max(scores[j], max);
  float lanes[kLanes] = {};
  for (uint32_t j = begin; j < end; ++j) {
    scores[j] = ExpNeg(scores[j] - max);
    lanes[j % kLanes] = lanes[j % kLanes] + scores[j];
  }
  part->max = max;
  part->sum = FoldLanes(lanes);
  for (uint32_t d = 0; d < head_size; ++d) {
    float acc = 0;
    for (uint32_t j = begin; j < end; ++j) acc = Fma(scores[j], values[uint64_t{j} * head_size + d], acc);
    part->out[d] = acc;
  }
}

void MergeAttention(AttentionPart* running, const AttentionPart& next, uint32_t head_size) {
  const float max = Max(running->max, next.max);
  const float a = ExpNeg(running->max - max);
  const float b = ExpNeg(next.max - max);
  running->max = max;
  running->sum = Fma(next.sum, b, running->sum * a);
  for (uint32_t d = 0; d < head_size; ++d) running->out[d] = Fma(next.out[d], b, running->out[d] * a);
}

void FinishAttention(const AttentionPart& running, uint32_t head_size, float* out) {
  const float reciprocal = 1.0f / running.sum;
  for (uint32_t d = 0; d < head_size; ++d) out[d] = running.out[d] * reciprocal;
}

}  // namespace samebit::arith
