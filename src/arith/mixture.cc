#include "arith/mixture.h"

#include <algorithm>

#include "arith/environment.h"
#include "arith/sampling.h"

namespace samebit::arith {

void AddResidual(float* x, const float* y, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) x[i] = x[i] + y[i];
}

std::vector<uint32_t> ChooseExperts(const float* router_logits, uint32_t experts, uint32_t count) {
  std::vector<uint64_t> keys(experts);
  for (uint32_t id = 0; id < experts; ++id) keys[id] = CandidateKey(router_logits[id], id);
  std::sort(keys.rbegin(), keys.rend());
  std::vector<uint32_t> chosen;
  for (uint32_t i = 0; i < std::min(count, experts); ++i) chosen.push_back(CandidateId(keys[i]));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

void AddExpert(float* out, const float* expert_out, float weight, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) out[i] = Fma(weight, expert_out[i], out[i]);
}

}  // namespace samebit::arith
