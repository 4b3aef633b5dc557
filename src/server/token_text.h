// The engine's records as the interface writes them.
#pragma once

#include <vector>

#include "engine/request.h"
#include "openai/answer_parts.h"
#include "text/tokenizer.h"

namespace samebit::server {

struct TokenTextOptions {
  uint32_t top_count = 0;   // candidates given out, of those that the record holds
  bool tokens_as_ids = false;
  bool margins = false;
};

openai::TokenEntry ToEntry(const engine::TokenRecord& record, const text::Tokenizer& tokenizer,
                           const TokenTextOptions& options);
// All of a prompt: the first token has no log-probability, the others have a record each.
std::vector<openai::TokenEntry> PromptEntries(const std::vector<TokenId>& prompt,
                                              const std::vector<engine::TokenRecord>& records,
                                              const text::Tokenizer& tokenizer, const TokenTextOptions& options);

}  // namespace samebit::server
