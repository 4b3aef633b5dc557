// Prompts of a replay: as they are asked, and as token ids. Plain data and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "base/types.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace samebit::verify {

struct Prompt {
  std::string id;
  std::string category;  // "chat", "code", "json", "maths", "translation", "long_context", or a file's own
  std::vector<text::ChatMessage> messages;
  uint32_t tokens_max = 0;  // the longest answer that may be asked of it; 0: no bound
};

// A prompt as the engine, or a server, gets it.
struct PreparedPrompt {
  std::string id;
  std::string category;
  std::vector<TokenId> ids;
  uint32_t tokens_max = 0;
  uint32_t base_chunk = 1;  // prefill of its base answer; over 1 only where token by token is not affordable
  // For a server that has its own tokenizer: what is asked, and about how long it is; `ids` is empty then.
  std::vector<text::ChatMessage> messages = {};
  uint32_t tokens_estimated = 0;

  uint32_t token_count() const { return ids.empty() ? tokens_estimated : static_cast<uint32_t>(ids.size()); }
};

// What turns a prompt into ids; the pointers outlive the calls.
struct PromptRenderer {
  const text::Tokenizer* tokenizer = nullptr;
  const text::ChatTemplate* chat_template = nullptr;  // null: the messages' contents as raw text, bos before it
  const TokenizerSpec* spec = nullptr;

  // Failures: those of the template and of the tokenizer, with the prompt's id in front.
  Result<std::vector<TokenId>> Render(const Prompt& prompt) const;
};

}  // namespace samebit::verify
