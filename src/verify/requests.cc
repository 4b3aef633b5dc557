#include "verify/requests.h"

#include "verify/compare.h"

namespace samebit::verify {
namespace {

// SplitMix64's output function: every input bit moves every output bit.
uint64_t Mixed(uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

}  // namespace

uint64_t SeedOf(uint64_t matrix_seed, uint32_t prompt) {
  return Mixed(matrix_seed + (uint64_t{prompt} + 1) * 0x9e3779b97f4a7c15u);
}

engine::Request RequestOf(const CellRequest& request, const PreparedPrompt& prompt, uint64_t matrix_seed) {
  engine::Request out;
  out.prompt = prompt.ids;
  out.samples = request.samples;
  out.tokens_max = request.tokens_max;
  out.top_logprobs = kTopCompared;
  out.logits_digests = true;
  if (request.sampling == SamplingKind::kSeeded) {
    out.sampling.temperature = 0.8f;
    out.sampling.top_p = 0.95f;
    out.sampling.seed = SeedOf(matrix_seed, request.prompt);
  }
  return out;
}

engine::Request CompanyRequest(Company company, const PreparedPrompt& prompt, uint32_t number) {
  engine::Request out;
  out.prompt = prompt.ids;
  out.tokens_max = kCompanyTokensMax - number % 25;  // they end at different steps
  if (company == Company::kHot) {
    out.sampling.temperature = 2.0f;
    out.sampling.top_k = 50;
    out.sampling.repetition_penalty = 1.3f;
    out.sampling.presence_penalty = 1.0f;
    out.sampling.seed = Mixed(number + 1);
  }
  return out;
}

}  // namespace samebit::verify
