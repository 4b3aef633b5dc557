// Rule N. RMSNorm: y = (x * r) * w with r = 1 / sqrt(mean(x^2) + epsilon).
// LayerNorm: d = x - mean(x); y = fma(d * r, w, b) with r = 1 / sqrt(mean(d^2) + epsilon).
//
// The sum of squares runs in 16 virtual lanes: lane j takes i = j mod 16 ascending by fma; the lanes are folded
// 8+8, 4+4, 2+2, 1+1. 16 lanes fill one AVX-512 register, two AVX2 or four NEON registers, so that every machine has
// a fast path to the same sum. LayerNorm's sum of x runs in the same lanes, by addition.
#pragma once

#include <cstdint>

namespace samebit::arith {

inline constexpr uint32_t kLanes = 16;

// Folds 16 lanes: t[j] = lanes[j] + lanes[j+8] for j < 8, then 4 + 4, 2 + 2, 1 + 1.
float FoldLanes(const float lanes[kLanes]);

// out [n] = RMSNorm of x [n] with weights w [n]; out may be x. Division and square root are IEEE.
// Returns false if the sum of squares is not finite: x holds a NaN or an infinity (or is beyond 1e19), and the request
// fails.
bool RmsNorm(const float* x, const float* w, uint32_t n, float epsilon, float* out);

// out [n] = LayerNorm of x [n] with weights w [n] and bias b [n]; out may be x. epsilon > 0.
// Returns false where the sum of squares is not finite, as RmsNorm does.
bool LayerNorm(const float* x, const float* w, const float* b, uint32_t n, float epsilon, float* out);

}  // namespace samebit::arith
