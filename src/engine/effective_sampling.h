// Sampling as asked for, and as it will really be done: every parameter with where it came from.
//
// For the command line and the server, which check the wish in their own words before (flags, JSON fields).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/sampling_wish.h"
#include "base/tokenizer_spec.h"
#include "engine/request.h"

namespace samebit::engine {

// One line of the report: {"value": ..., "source": ...}.
struct EffectiveParameter {
  std::string name;
  std::string json;    // the value as JSON text
  const char* source;  // "request", "server" or "checkpoint"
};

struct EffectiveSampling {
  Request request;  // everything but the prompt
  bool tokens_max_given = false;
  std::vector<EffectiveParameter> parameters;

  // A default length that does not fit the context is cut to the `room` left; a length that was asked for is not.
  void FitTokensMax(uint32_t room);
};

// Where nobody gives a length.
inline constexpr uint32_t kTokensMaxDefault = 256;

struct SamplingSources {
  SamplingWish server = {};           // what the operator configured; asked after the request, before the checkpoint
  CheckpointSampling checkpoint = {};
  uint32_t tokens_max_default = kTokensMaxDefault;
  std::function<uint64_t()> fresh_seed = {};  // called once, for a sampled request without a seed
};

// First found wins: the request, the server's configuration, the checkpoint's own wish, samebit's default
// (temperature 0: greedy; its source is "server" too). A greedy answer draws nothing: its seed is 0 unless given.
EffectiveSampling ResolveSampling(const SamplingWish& wish, const SamplingSources& sources,
                                  const TokenizerSpec& tokenizer);

}  // namespace samebit::engine
