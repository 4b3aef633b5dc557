// Sampling as asked for on the command line, and as it will really be done: every parameter with where it came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "cli/flag_table.h"
#include "engine/request.h"
#include "world/entropy.h"

namespace samebit::cli {

struct SamplingFlags {
  std::optional<float> temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<uint32_t> top_k, max_tokens, min_tokens, samples, beam_width, logprobs;
  std::optional<uint64_t> seed;
  std::vector<std::pair<TokenId, float>> logit_bias;
  std::vector<std::string> stop;
  std::vector<TokenId> stop_ids;
  bool ignore_eos = false;

  std::vector<Flag> flags();
};

// One line of the report: {"value": ..., "source": ...}.
struct EffectiveParameter {
  std::string name;
  std::string json;    // the value as JSON text
  const char* source;  // "request", "checkpoint" or "server"
};

struct EffectiveSampling {
  engine::Request request;  // everything but the prompt
  bool tokens_max_given = false;
  std::vector<EffectiveParameter> parameters;

  // A default length that does not fit the context is cut to the `room` left; a length that was asked for is not.
  void FitTokensMax(uint32_t room);
};

// Where no --max-tokens is given.
inline constexpr uint32_t kTokensMaxDefault = 256;

// First found wins: the flag, the checkpoint's own wish, samebit's default (temperature 0: greedy). A sampled request
// without a seed gets one from `entropy`. Failure: kInvalidArgument (a combination that means nothing, a token id that
// the vocabulary lacks).
Result<EffectiveSampling> ResolveSampling(const SamplingFlags& flags, const CheckpointSampling& checkpoint,
                                          const TokenizerSpec& tokenizer, world::Entropy& entropy);

}  // namespace samebit::cli
