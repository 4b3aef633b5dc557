// Sampling as asked for on the command line: the flags, and their checks in the flags' own words.
#pragma once

#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "base/sampling_wish.h"
#include "base/tokenizer_spec.h"
#include "cli/flag_table.h"
#include "engine/effective_sampling.h"
#include "world/entropy.h"

namespace samebit::cli {

using engine::EffectiveParameter;
using engine::EffectiveSampling;
using engine::kTokensMaxDefault;

struct SamplingFlags : SamplingWish {
  std::vector<Flag> flags();
  // The parameters that a server's operator may set for requests that leave them out.
  std::vector<Flag> default_flags();
};

// First found wins: the flag, the checkpoint's own wish, samebit's default (temperature 0: greedy). A sampled request
// without a seed gets one from `entropy`; digests of the logits are asked for. Failure: kInvalidArgument (a combination
// that means nothing, a token id that the vocabulary lacks).
Result<EffectiveSampling> ResolveSampling(const SamplingFlags& flags, const CheckpointSampling& checkpoint,
                                          const TokenizerSpec& tokenizer, world::Entropy& entropy);

}  // namespace samebit::cli
