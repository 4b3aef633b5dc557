// The roof: how many products and sums a core can do in registers, nothing to load and nothing to wait for. What the
// linear kernels reach is quoted as a share of it (`samebit bench`).
#pragma once

#include "kernels/layout.h"
#include "kernels/simd/inline.h"

namespace samebit::kernels {
namespace {

// Chains enough to hide an fma's latency on two ports, few enough for the registers.
inline constexpr uint32_t kPeakChains = kQuantizedRowsMax;

// `rounds` times one fma for each of `kPeakChains` registers of 16 lanes. The sum is returned so that it is computed.
float PeakFma(uint32_t rounds, uint64_t* operations) {
  Floats acc[kPeakChains];
  for (uint32_t i = 0; i < kPeakChains; ++i) acc[i] = Splat(static_cast<float>(i));
  const Floats a = Splat(0.5f), b = Splat(1.0f);
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint32_t i = 0; i < kPeakChains; ++i) acc[i] = Fma(acc[i], a, b);
  Floats sum = acc[0];
  for (uint32_t i = 1; i < kPeakChains; ++i) sum = Add(sum, acc[i]);
  *operations = uint64_t{rounds} * kPeakChains * 16 * 2;
  return Fold(sum);
}

// The same with the instruction that sums four products of bytes per lane.
float PeakDot(uint32_t rounds, uint64_t* operations) {
  Ints acc[kPeakChains];
  for (uint32_t i = 0; i < kPeakChains; ++i) acc[i] = SplatInt(static_cast<int32_t>(i));
  const Ints codes = SplatInt(0x01020304), x = SplatInt(0x01010101);
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint32_t i = 0; i < kPeakChains; ++i) acc[i] = DotQuad(acc[i], codes, x);
  Ints sum = acc[0];
  for (uint32_t i = 1; i < kPeakChains; ++i) sum = AddInt(sum, acc[i]);
  *operations = uint64_t{rounds} * kPeakChains * 16 * 4 * 2;
  return static_cast<float>(SumLanes(sum));
}

}  // namespace
}  // namespace samebit::kernels
