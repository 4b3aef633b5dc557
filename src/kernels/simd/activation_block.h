// What the kernels of rule Q read of the activations.
#pragma once

#include <cstdint>

#include "kernels/layout.h"

namespace samebit::kernels {
namespace {

// One block of 32 inputs of a group of rows, gathered so that a kernel walks one stream of activations.
template <uint32_t kRows, uint32_t kGroups>
struct ActivationBlock {
  int8_t codes[kRows][layout::kBlockInputs];
  float scales[kRows];
  float scaled_sums[kRows];
  int32_t corrections[kGroups][kRows];  // - code_offset * sum of the group's codes
};

}  // namespace
}  // namespace samebit::kernels
