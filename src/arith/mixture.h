// Rule M, residuals and experts: sums of whole vectors in a stated order.
//
// A residual is one binary32 addition per element. Router ties go to the smaller expert id; the outputs of the chosen
// experts are added in ascending expert id, out = fma(weight, expert_out, out), starting from 0.
#pragma once

#include <cstdint>
#include <vector>

namespace samebit::arith {

// x[i] = x[i] + y[i]
void AddResidual(float* x, const float* y, uint32_t n);

// The `count` experts with the largest router logits, ascending by id.
std::vector<uint32_t> ChooseExperts(const float* router_logits, uint32_t experts, uint32_t count);

// out[i] = fma(weight, expert_out[i], out[i])
void AddExpert(float* out, const float* expert_out, float weight, uint32_t n);

}  // namespace samebit::arith
