// Checks on options and requests: every refusal names its field, what was given and what is allowed.
#pragma once

#include "engine/options.h"
#include "engine/request.h"
#include "engine/weights.h"

namespace samebit::engine {

Status CheckOptions(const EngineOptions& options, const Weights& weights);

struct RequestLimits {
  uint32_t vocabulary = 0;
  uint32_t context_max = 0;
  uint32_t cache_tokens_max = 0;  // tokens that the whole KV budget holds
  uint32_t page_tokens = 1;       // a sequence takes whole pages of it
  uint32_t sequences_max = 0;
  bool has_tokenizer = false;
};

Status CheckRequest(const Request& request, const RequestLimits& limits);

}  // namespace samebit::engine
