// A wrong linear layer on purpose: its sums are split by batch size and thread count, as fast libraries do it. For
// `samebit replay --control` and the conformance tests only, which must catch it; nothing that answers a request calls
// it.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace samebit::kernels {

// As base.linear(call, panel_begin, panel_end), but K is cut into a number of parts that depends on call.m and
// `threads` and the parts are added left to right. Every sum is right to rounding; the rounding is not the law's.
void ControlLinear(const KernelTable& base, const LinearCall& call, uint32_t threads, uint32_t panel_begin,
                   uint32_t panel_end);

}  // namespace samebit::kernels
