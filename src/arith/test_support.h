// For arith's tests only: pseudo-random numbers that are the same on every machine, and errors in ulp.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "arith/number_formats.h"

namespace samebit::arith::testing {

// Emulated processors are about 60 times slower, so cross builds test every 64th case.
#if defined(__aarch64__)
inline constexpr uint64_t kThinning = 64;
#else
inline constexpr uint64_t kThinning = 1;
#endif

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Bits64() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t Bits32() { return static_cast<uint32_t>(Bits64() >> 32); }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>((uint64_t{Bits32()} * n) >> 32); }
  // Uniform in [-1, 1): 24 random bits, exact.
  float Signed() { return static_cast<float>(static_cast<int32_t>(Bits32()) >> 8) * 0x1p-23f; }
  // Roughly normal, variance 1: twelve uniforms, added as integers.
  float Normal() {
    int32_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<int32_t>(Bits32()) >> 8;
    return static_cast<float>(sum) * 0x1p-24f;
  }
  std::vector<float> Normals(size_t n, float scale = 1.0f) {
    std::vector<float> values(n);
    for (float& value : values) value = Normal() * scale;
    return values;
  }
  std::vector<uint8_t> Bytes(size_t n) {
    std::vector<uint8_t> bytes(n);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(Bits64() >> 56);
    return bytes;
  }

 private:
  uint64_t state_;
};

// Distance of `got` from `exact`, in units of the last place that a binary32 of exact's magnitude has.
inline double UlpError(float got, double exact) {
  int exponent = exact == 0 ? -126 : std::ilogb(exact);
  if (exponent < -126) exponent = -126;
  return std::ldexp(std::fabs(static_cast<double>(got) - exact), 23 - exponent);
}

// Random stored blocks of a quantized format whose scales are ordinary numbers (random bytes hold infinities and NaN).
inline std::vector<uint8_t> RandomBlocks(WeightType type, uint64_t elements, Random& random) {
  std::vector<uint8_t> bytes = random.Bytes(StoredBytes(type, elements));
  const WeightFormat& format = Format(type);
  const auto put = [&](size_t at, float value) {
    const uint16_t half = F32ToF16(value);
    bytes[at] = static_cast<uint8_t>(half);
    bytes[at + 1] = static_cast<uint8_t>(half >> 8);
  };
  for (size_t at = 0; at < bytes.size(); at += format.block_bytes) {
    if (!format.quantized) {
      if (type == WeightType::kF16) put(at, random.Normal() * 0.05f);
      if (type == WeightType::kF32 || type == WeightType::kBf16) {
        const uint32_t bits = BitsOf(random.Normal() * 0.05f);
        for (uint32_t i = 0; i < format.block_bytes; ++i)
          bytes[at + i] = static_cast<uint8_t>(bits >> (32 - 8 * format.block_bytes + 8 * i));
      }
    } else if (type == WeightType::kQ6_K) {
      put(at + 208, random.Signed() * 0.0005f);
    } else {
      put(at, (1.0f + 0.5f * random.Signed()) * (format.block_elements == 256 ? 0.0005f : 0.01f));
      if (format.has_minimum) {
        const float sign = format.block_elements == 256 ? 1.0f : -1.0f;
        put(at + 2, sign * (1.0f + 0.5f * random.Signed()) * (format.block_elements == 256 ? 0.004f : 0.08f));
      }
    }
  }
  return bytes;
}

}  // namespace samebit::arith::testing
