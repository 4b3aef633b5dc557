// Rule P, log-probabilities: log softmax of a row of logits.
//
//     max   = largest logit (exact)
//     total = for each block of 1024 logits ascending: 16 lanes, lane i mod 16, of exp_neg(logit - max) in binary32,
//             folded as in rule N; the block sums are added in binary64, ascending
//     logprob(i) = binary32(binary64(logit_i - max) - log(total))     (logit_i - max is one binary32 subtraction)
// Two binary32 sums in another order differ in the sixth digit; here there is one order, and blocks keep it accurate.
#pragma once

#include <cstdint>

namespace samebit::arith {

inline constexpr uint32_t kLogSumBlock = 1024;

struct LogSoftmax {
  float max = 0;
  double log_total = 0;
};

// Over logits [n], finite.
LogSoftmax LogSoftmaxOf(const float* logits, uint32_t n);

float LogProbability(const LogSoftmax& normalizer, float logit);

}  // namespace samebit::arith
