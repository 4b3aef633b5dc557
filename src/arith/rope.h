// Rule R, rotary position embedding.
//
// inv_freq[i] = binary32(base^(-2i/d)), scaled as the checkpoint says, in binary64 until the one rounding;
// angle = binary32(position) * inv_freq[i], one binary32 product, as the training code computes it;
// cos and sin of that binary32 angle in binary64, rounded once. Pairs are (i, i + d/2), "half-split"; files that
// interleave pairs have their rows reordered when they are loaded, so that equal weights give equal bits.
//     x'[i]       = fma(x[i], cos, -(x[i+d/2] * sin))
//     x'[i+d/2]   = fma(x[i+d/2], cos, x[i] * sin)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace samebit::arith {

// How a checkpoint stretches its frequencies for contexts longer than it was first trained for.
struct RopeScale {
  enum class Kind { kNone, kLinear, kLlama3 } kind = Kind::kNone;
  double factor = 1;
  double low_frequency_factor = 1, high_frequency_factor = 4;  // kLlama3
  double original_context = 8192;                              // kLlama3
};

// [head_size / 2]. head_size even, base > 0. `divisors`: empty, or [head_size / 2] numbers that divide the frequencies
// (GGUF's rope_freqs tensor). Above position * frequency = 2^20 the angles are meaningless (but defined): readers bound
// the base, the factors and the divisors.
std::vector<float> RopeFrequencies(double base, uint32_t head_size, const RopeScale& scale,
                                   std::span<const float> divisors = {});

// cosines, sines [n] for one position.
void RopeAngles(std::span<const float> frequencies, uint32_t position, float* cosines, float* sines);

// Rotates one head x [head_size] in place.
void ApplyRope(float* x, uint32_t head_size, const float* cosines, const float* sines);

}  // namespace samebit::arith
