#include "arith/norm.h"

#include "arith/elementary.h"

namespace samebit::arith {

float FoldLanes(const float lanes[kLanes]) {
  float t[kLanes / 2];
  for (uint32_t j = 0; j < 8; ++j) t[j] = lanes[j] + lanes[j + 8];
  for (uint32_t width = 4; width >= 1; width /= 2)
    for (uint32_t j = 0; j < width; ++j) t[j] = t[j] + t[j + width];
  return t[0];
}

bool RmsNorm(const float* x, const float* w, uint32_t n, float epsilon, float* out) {
  float lanes[kLanes] = {};
  for (uint32_t i = 0; i < n; ++i) lanes[i % kLanes] = Fma(x[i], x[i], lanes[i % kLanes]);
  const float sum = FoldLanes(lanes);
  const float r = 1.0f / Sqrt(sum / static_cast<float>(n) + epsilon);
  for (uint32_t i = 0; i < n; ++i) out[i] = (x[i] * r) * w[i];
  return BitsOf(sum) < 0x7f800000u;
}

bool LayerNorm(const float* x, const float* w, const float* b, uint32_t n, float epsilon, float* out) {
  float lanes[kLanes] = {};
  for (uint32_t i = 0; i < n; ++i) lanes[i % kLanes] = lanes[i % kLanes] + x[i];
  const float mean = FoldLanes(lanes) / static_cast<float>(n);
  float squares[kLanes] = {};
  for (uint32_t i = 0; i < n; ++i) {
    const float d = x[i] - mean;
    squares[i % kLanes] = Fma(d, d, squares[i % kLanes]);
  }
  const float sum = FoldLanes(squares);
  const float r = 1.0f / Sqrt(sum / static_cast<float>(n) + epsilon);
  for (uint32_t i = 0; i < n; ++i) out[i] = Fma((x[i] - mean) * r, w[i], b[i]);
  return BitsOf(sum) < 0x7f800000u;
}

}  // namespace samebit::arith
