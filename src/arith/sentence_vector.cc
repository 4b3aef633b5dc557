#include "arith/sentence_vector.h"

#include "arith/elementary.h"
#include "arith/norm.h"

namespace samebit::arith {

void AddEmbeddings(const float* word, const float* type, const float* position, uint32_t n, float* out) {
  for (uint32_t i = 0; i < n; ++i) out[i] = (word[i] + type[i]) + position[i];
}

void AddToMean(const float* row, uint32_t n, double* sums) {
  for (uint32_t i = 0; i < n; ++i) sums[i] = sums[i] + double{row[i]};
}

void FinishMean(const double* sums, uint32_t tokens, uint32_t n, float* out) {
  for (uint32_t i = 0; i < n; ++i) out[i] = static_cast<float>(sums[i] / static_cast<double>(tokens));
}

bool NormalizeLength(const float* x, uint32_t n, float* out) {
  float lanes[kLanes] = {};
  for (uint32_t i = 0; i < n; ++i) lanes[i % kLanes] = Fma(x[i], x[i], lanes[i % kLanes]);
  const float sum = FoldLanes(lanes);
  const float length = Max(Sqrt(sum), kLengthMin);
  for (uint32_t i = 0; i < n; ++i) out[i] = x[i] / length;
  return BitsOf(sum) < 0x7f800000u;
}

}  // namespace samebit::arith
