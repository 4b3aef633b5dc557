// Rule S at work: one position's logits -> the token that follows, and what is reported about the position.
//
// A function of the logits, the request's own parameters and the sequence's own tokens; nothing else goes in, so
// neighbours, batches and history of the server cannot show. Called by workers, one SamplerScratch each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/request.h"
#include "kernels/kernels.h"

namespace samebit::engine {

struct SamplerScratch {
  std::vector<float> adjusted;     // [vocabulary]
  std::vector<uint32_t> weights;   // [vocabulary]
  std::vector<uint64_t> keys;
  std::vector<uint32_t> allowed;   // [vocabulary / 32, rounded up]
};

struct SampleInput {
  const float* logits = nullptr;   // [vocabulary], finite
  uint32_t vocabulary = 0;
  const SamplingParams* params = nullptr;
  std::span<const TokenId> prompt;
  std::span<const TokenId> answer;   // of this sample so far
  std::span<const TokenId> masked;   // ids that may not be chosen (stop ids before tokens_min); never all of them
  std::span<const uint32_t> allowed;  // a bit per id, 32 in each, lowest first: the others may not be chosen; empty: all
                                      // may. At least one that is not masked.
  uint64_t sample_index = 0;
};

// The token at position prompt + answer.
TokenId SampleToken(const kernels::KernelTable& kernels, const SampleInput& input, SamplerScratch& scratch);

// What is true of a position whatever token follows.
struct PositionReport {
  arith::LogSoftmax normalizer;
  float margin = 0;
  Sha256Digest logits_digest;
  std::vector<TopToken> top;
};

PositionReport ReportPosition(const kernels::KernelTable& kernels, const float* logits, uint32_t vocabulary,
                              uint32_t top_count, bool digest, SamplerScratch& scratch);

// The record of `id` at such a position.
TokenRecord RecordOf(const PositionReport& report, const float* logits, TokenId id, uint32_t top_count);

// Checks every field against the vocabulary; the error names the field, what was given and what is allowed.
Status CheckSampling(const SamplingParams& params, uint32_t vocabulary);

}  // namespace samebit::engine
