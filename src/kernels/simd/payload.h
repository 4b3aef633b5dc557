// One payload of 32 inputs, 16 outputs, kRows rows: DotPayload of the vector type, then the law's chain.
#pragma once

#include "kernels/simd/activation_block.h"

namespace samebit::kernels {
namespace {

// acc continues its chain over one payload. scale [groups], minimum: of the payload's 16 outputs.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void AddPayload(const uint8_t* payload, const ActivationBlock<kRows, kStream.groups>& x,
                               const Floats (&scale)[kStream.groups], Floats minimum, Floats (&acc)[kRows]) {
  Ints isum[kStream.groups][kRows];
  for (uint32_t group = 0; group < kStream.groups; ++group)
    for (uint32_t r = 0; r < kRows; ++r)
      isum[group][r] = kStream.code_offset == 0 ? SplatInt(0) : SplatInt(x.corrections[group][r]);
  DotPayload<kStream, kRows>(payload, x.codes, isum);
  for (uint32_t r = 0; r < kRows; ++r) {
    const Floats x_scale = Splat(x.scales[r]);
    for (uint32_t group = 0; group < kStream.groups; ++group)
      acc[r] = Fma(ToFloat(isum[group][r]), Mul(scale[group], x_scale), acc[r]);
    if constexpr (kStream.has_minimum) acc[r] = Fma(minimum, Splat(x.scaled_sums[r]), acc[r]);
  }
}

}  // namespace
}  // namespace samebit::kernels
