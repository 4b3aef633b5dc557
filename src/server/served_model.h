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
#include "openai/embedding_answer.h"
#include "server/prompt_templates.h"
#include "text/grammar.h"
#include "text/prompt_ids.h"
#include "text/tools/tool_syntax.h"

namespace samebit::server {

struct ServedModel {
  std::string id;               // as clients name it
  int64_t created_seconds = 0;  // unix time at which the server began to offer it
  std::string version;          // of this program
  uint32_t vocabulary = 0;
  uint32_t context_max = 0;
  uint32_t token_bytes_max = 0;  // of the longest token's text; 0: not known
  const text::Tokenizer* tokenizer = nullptr;
  const TokenizerSpec* spec = nullptr;
  const text::ChatTemplate* chat_template = nullptr;  // null: the model has none
  std::string chat_template_source;                   // "" with it
  const text::ChatEncoder* chat_encoder = nullptr;    // null with it
  const text::GrammarCompiler* grammars = nullptr;
  const text::ToolSyntax* tool_syntax = nullptr;      // null: none is known
  text::ToolTemplate tool_template;                   // what the chat template does with tools
  const PromptTemplates* prompts = nullptr;           // null: none are offered
  CheckpointSampling checkpoint;
  SamplingWish defaults;  // the operator's, for requests that say nothing
  contract::Tier tier_default = contract::Tier::kStrict;
  contract::SemanticPart semantic;  // without the sampling
  const contract::FixedParts* fixed = nullptr;
  std::vector<std::pair<std::string, std::string>> files;  // name, SHA-256
  bool generates = true;  // false: a sentence encoder, for /v1/embeddings only
  // Of text vectors, where the request says nothing.
  openai::VectorForm vector_form;
  uint32_t vector_width = 0;
  uint32_t embedding_tokens_max = 0;
  bool has_first_pooling = false;
};

}  // namespace samebit::server
