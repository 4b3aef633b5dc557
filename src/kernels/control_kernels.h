// The negative control: a linear layer whose reduction order depends on the batch and on the threads, as in an
// ordinary engine. Each sum is as accurate as the law's; only its order differs. It exists so that a test of
// determinism can be seen to fail, is chosen by EngineOptions::reduction alone, and no server can reach it.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace samebit::kernels {

// As base.linear(call, panel_begin, panel_end), but the inputs that call.tree covers are cut into equal parts, their
// number a function of call.m and `threads`, and the parts are added left to right.
void ControlLinear(const KernelTable& base, const LinearCall& call, uint32_t threads, uint32_t panel_begin, uint32_t panel_end);

}  // namespace samebit::kernels
