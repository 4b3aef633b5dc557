#include "correctness/oracle.h"

#include <algorithm>
#include <cmath>

#include "support/decoder_run.h"

namespace samebit::test {

namespace {

std::vector<double> LogSoftmax(const float* logits, uint32_t n) {
  const double max = *std::max_element(logits, logits + n);
  double total = 0;
  for (uint32_t i = 0; i < n; ++i) total += std::exp(logits[i] - max);
  std::vector<double> result(n);
  for (uint32_t i = 0; i < n; ++i) result[i] = logits[i] - max - std::log(total);
  return result;
}

}  // namespace

engine::EngineOptions OraclePassOptions(kernels::CacheType cache_type) {
  engine::EngineOptions options;
  options.isa = kernels::BestIsa();
  options.cache_type = cache_type;
  return options;
}

OracleDistance DistanceFromOracle(const engine::Weights& weights, const TinyExpected& expected,
                                  kernels::CacheType cache_type) {
  const std::vector<float> logits = DecoderLogits(weights, expected.prompt, OraclePassOptions(cache_type));
  const uint32_t n = expected.vocabulary;
  OracleDistance distance;
  for (size_t row = 0; row < expected.positions.size(); ++row) {
    const float* wanted = &expected.logits[row * n];
    const float* got = &logits[size_t{expected.positions[row]} * n];
    const std::vector<double> p = LogSoftmax(wanted, n), q = LogSoftmax(got, n);
    for (uint32_t i = 0; i < n; ++i) {
      const double difference = std::fabs(static_cast<double>(got[i]) - wanted[i]);
      // Not std::max, which would lose a NaN.
      if (!(difference <= distance.max)) distance.max = difference;
      distance.rms += difference * difference;
      distance.kl_mean += std::exp(p[i]) * (p[i] - q[i]);
    }
  }
  const auto rows = static_cast<double>(expected.positions.size());
  distance.rms = std::sqrt(distance.rms / (rows * n));
  distance.kl_mean /= rows;
  return distance;
}

}  // namespace samebit::test
