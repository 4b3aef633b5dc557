// What chat completions and completions have in common: sampling, length, stops, streaming, tier and pins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/sampling_wish.h"
#include "contract/tier.h"
#include "openai/field_reader.h"
#include "openai/response_format.h"

namespace samebit::openai {

// What the client says that must run: hex digests without "sha256:".
struct Pins {
  std::optional<std::string> fingerprint, semantic_sha256, numeric_sha256, deployment_sha256, model_sha256,
      tokenizer_sha256, chat_template_sha256, prompt_template_sha256;
};

// What the parser has to know of the server.
struct ParseRules {
  uint32_t vocabulary = 0;
  contract::Tier tier_default = contract::Tier::kStrict;
  std::optional<std::string> tier_header;  // X-Reproducibility-Tier, as it came
};

struct CommonRequest {
  std::optional<std::string> model;
  SamplingWish sampling;
  bool wants_logprobs = false;  // sampling.logprobs says how many candidates beside
  bool wants_prompt_logprobs = false;
  uint32_t prompt_logprobs = 0;
  bool stream = false;
  bool stream_usage = false;
  bool return_token_ids = false;
  bool return_margins = false;   // logit_margin of each token, beside its log-probability
  bool tokens_as_ids = false;  // return_tokens_as_token_ids: "token_id:123" instead of a token's text
  ResponseFormat response_format;
  contract::Tier tier = contract::Tier::kStrict;
  Pins pins;
  std::vector<std::string> ignored_fields;  // unknown ones, at tier 0
};

// Reads what every endpoint that answers has: model, tier, pins.
void ReadModelTierAndPins(FieldReader& fields, const ParseRules& rules, CommonRequest& out);
// Reads the fields that both endpoints share. tokens_min: the smallest max_tokens.
void ReadCommon(FieldReader& fields, const ParseRules& rules, uint32_t tokens_min, CommonRequest& out);

// Refuses known fields that cannot be honoured; what nobody knows is refused at tier 1 and 2 and listed at tier 0.
// The last step of a parser.
void FinishFields(FieldReader& fields, CommonRequest& out);

}  // namespace samebit::openai
