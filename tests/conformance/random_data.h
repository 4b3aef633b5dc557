// Seeded data for conformance tests: the same on every machine, ugly on purpose (zeros of both signs, subnormals, large
// and tiny magnitudes, codes and scales at their extremes). Never NaN or infinity.
#pragma once

#include <cstdint>
#include <vector>

#include "arith/number_formats.h"

namespace samebit::conformance {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(Next() % n); }
  // In (-1, 1), 24 significant bits.
  float Unit() { return (static_cast<float>(Next() >> 40) - 0x1p23f) * 0x1p-23f; }

 private:
  uint64_t state_;
};

enum class Style {
  kPlain,    // like activations: a bell-like middle
  kOutlier,  // plain, with rare values a thousand times larger
  kWide,     // magnitudes from 2^-140 (subnormal) to 2^20
  kSparse,   // mostly zeros of both signs
  kExtreme,  // only +a and -a: every activation code is +-127
};
inline constexpr Style kStyles[] = {Style::kPlain, Style::kOutlier, Style::kWide, Style::kSparse, Style::kExtreme};

std::vector<float> RandomFloats(Random& random, size_t n, Style style);

// Stored blocks of `rows` rows of `columns` elements, as a file would hold them. Style::kExtreme: all codes at one end
// of their range (a row at the lower end, the next at the upper), largest sub-scales.
std::vector<uint8_t> RandomWeights(Random& random, arith::WeightType type, uint32_t rows, uint32_t columns,
                                   Style style);

}  // namespace samebit::conformance
