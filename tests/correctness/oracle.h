// Comparison of the engine's logits with the float32 oracle's, and the tolerances that tests/data/models/README.md
// states.
#pragma once

#include "engine/options.h"
#include "support/tiny_models.h"

namespace samebit::test {

// Float weights: largest difference of a logit. Noise of float32 is under 3e-5, of an f16 cache under 0.02; the
// smallest mistake of that README moves a logit by 2.2e-3, the smallest in a norm, scale, window or doubled RoPE base
// by more than 0.04.
inline constexpr double kLogitErrorMax = 5e-4;
inline constexpr double kLogitErrorMaxF16Cache = 0.04;
// Quantized weights, whose activations are rounded to 8 bits.
inline constexpr double kQuantizedRmsMax = 0.1;
inline constexpr double kQuantizedKlMax = 0.005;
// Greedy answers of quantized models are compared up to the first margin under this.
inline constexpr float kSafeMargin = 0.6f;

struct OracleDistance {
  double max = 0;  // largest |difference| of a logit over the stored positions
  double rms = 0;
  double kl_mean = 0;  // oracle to engine, whole vocabulary
};

// `weights` on the expected prompt in one pass, against the expected logits.
OracleDistance DistanceFromOracle(const engine::Weights& weights, const TinyExpected& expected,
                                  kernels::CacheType cache_type);

engine::EngineOptions OraclePassOptions(kernels::CacheType cache_type);

}  // namespace samebit::test
