#include "arith/rope.h"

#include "arith/elementary.h"

namespace samebit::arith {

namespace {

constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// Llama 3's piecewise rule: long wavelengths are divided by the factor, short ones kept, between them interpolated.
double ScaleLlama3(double frequency, const RopeScale& scale) {
  const double wavelength = kTwoPi / frequency;
  const double low = scale.original_context / scale.low_frequency_factor;
  const double high = scale.original_context / scale.high_frequency_factor;
  if (wavelength < high) return frequency;
  if (wavelength > low) return frequency / scale.factor;
  const double smooth = (scale.original_context / wavelength - scale.low_frequency_factor) /
                        (scale.high_frequency_factor - scale.low_frequency_factor);
  return (1.0 - smooth) * frequency / scale.factor + smooth * frequency;
}

}  // namespace

std::vector<float> RopeFrequencies(double base, uint32_t head_size, const RopeScale& scale,
                                   std::span<const float> divisors) {
  std::vector<float> frequencies(head_size / 2);
  const double log_base = Log64(base);
  for (uint32_t i = 0; i < head_size / 2; ++i) {
    double frequency = Exp64(-(2.0 * i / head_size) * log_base);
    if (scale.kind == RopeScale::Kind::kLinear) frequency = frequency / scale.factor;
    if (scale.kind == RopeScale::Kind::kLlama3) frequency = ScaleLlama3(frequency, scale);
    if (!divisors.empty()) frequency = frequency / static_cast<double>(divisors[i]);
    frequencies[i] = static_cast<float>(frequency);
  }
  return frequencies;
}

void RopeAngles(std::span<const float> frequencies, uint32_t position, float* cosines, float* sines) {
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    double sine, cosine;
    SinCos64(static_cast<double>(angle), &sine, &cosine);
    cosines[i] = static_cast<float>(cosine);
    sines[i] = static_cast<float>(sine);
  }
}

void ApplyRope(float* x, uint32_t head_size, const float* cosines, const float* sines) {
  const uint32_t half = head_size / 2;
  for (uint32_t i = 0; i < half; ++i) {
    const float a = x[i], b = x[i + half];
    x[i] = Fma(a, cosines[i], -(b * sines[i]));
    x[i + half] = Fma(b, cosines[i], a * sines[i]);
  }
}

}  // namespace samebit::arith
