#include "arith/log_probability.h"

#include <algorithm>

#include "arith/elementary.h"
#include "arith/norm.h"

namespace samebit::arith {

LogSoftmax LogSoftmaxOf(const float* logits, uint32_t n) {
  LogSoftmax result;
  result.max = logits[0];
  for (uint32_t i = 1; i < n; ++i) result.max = Max(logits[i], result.max);
  double total = 0;
  for (uint32_t begin = 0; begin < n; begin += kLogSumBlock) {
    float lanes[kLanes] = {};
    const uint32_t end = std::min(begin + kLogSumBlock, n);
    for (uint32_t i = begin; i < end; ++i) lanes[i % kLanes] = lanes[i % kLanes] + ExpNeg(logits[i] - result.max);
    total = total + static_cast<double>(FoldLanes(lanes));
  }
  result.log_total = Log64(total);
  return result;
}

float LogProbability(const LogSoftmax& normalizer, float logit) {
  return static_cast<float>(static_cast<double>(logit - normalizer.max) - normalizer.log_total);
}

}  // namespace samebit::arith
