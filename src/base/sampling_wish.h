// What somebody asks of the sampler: every parameter may be absent, and then another's word counts. Plain data that the
// command line and the HTTP interface fill and engine/effective_sampling.h resolves. Nothing here is checked yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"

namespace samebit {

struct SamplingWish {
  std::optional<float> temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<uint32_t> top_k, max_tokens, min_tokens, samples, beam_width, logprobs;
  std::optional<uint64_t> seed;
  std::vector<std::pair<TokenId, float>> logit_bias;
  std::vector<std::string> stop;
  std::vector<TokenId> stop_ids;
  bool ignore_eos = false;
};

}  // namespace samebit
