// The model that a server answers for, as the parts of this module see it. Plain data and borrowed objects: whoever
// starts the server owns them and keeps them for its life.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/sampling_wish.h"
#include "base/tokenizer_spec.h"
#include "contract/fingerprint.h"
#include "contract/tier.h"
#include "server/prompt_templates.h"
#include "text/prompt_ids.h"

namespace samebit::server {

struct ServedModel {
  std::string id;               // as clients name it
  int64_t created_seconds = 0;  // unix time at which the server began to offer it
  std::string version;          // of this program
  uint32_t vocabulary = 0;
  uint32_t context_max = 0;
  const text::Tokenizer* tokenizer = nullptr;
  const TokenizerSpec* spec = nullptr;
  const text::ChatTemplate* chat_template = nullptr;  // null: the model has none
  const text::ChatEncoder* chat_encoder = nullptr;    // null with it
  const PromptTemplates* prompts = nullptr;           // null: none are offered
  CheckpointSampling checkpoint;
  SamplingWish defaults;  // the operator's, for requests that say nothing
  contract::Tier tier_default = contract::Tier::kStrict;
  contract::SemanticPart semantic;  // without the sampling
  const contract::FixedParts* fixed = nullptr;
  std::vector<std::pair<std::string, std::string>> files;  // name, SHA-256
};

}  // namespace samebit::server
