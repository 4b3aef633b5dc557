// From text to the token ids that a model reads: for the command line and the server alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace samebit::text {

// Text to ids; special tokens written in the text become those tokens, and the model's bos goes in front where the
// model asks for one and the text does not begin with it. Empty where there is nothing to read.
// Failures: kMalformed, kTooLarge.
Result<std::vector<TokenId>> PromptIds(const Tokenizer& tokenizer, const TokenizerSpec& spec, std::string_view text);

// A text whose vector is wanted: what it spells out stays text, and the tokens that the model puts around every text go
// around it (bos in front, eos behind, where the model asks for them). Failures: kMalformed, kTooLarge.
Result<std::vector<TokenId>> EmbeddingIds(const Tokenizer& tokenizer, const TokenizerSpec& spec, std::string_view text);

// What a chat template is given besides messages: the texts of bos and eos.
RenderOptions RenderOptionsFor(const Tokenizer& tokenizer, const TokenizerSpec& spec);

// Messages and tools from strangers: what they write stays text. A template marks turns with control tokens ("<|im_end|>"); the
// same letters inside a message must not become that token, or a user could speak in the assistant's name.
//
// Immutable; any thread. The tokenizer, the template and the spec outlive it.
class ChatEncoder {
 public:
  ChatEncoder(const Tokenizer& tokenizer, const TokenizerSpec& spec, const ChatTemplate& chat_template);

  // Failures: those of ChatTemplate::Render and PromptIds; kInvalidArgument (a message holds every noncharacter that
  // could mark the place).
  Result<std::vector<TokenId>> Encode(std::vector<ChatMessage> messages, const RenderOptions& options) const;

 private:
  // The longest control token that begins there, or 0 bytes.
  size_t ControlBytesAt(std::string_view text, size_t at) const;
  bool HoldsControl(std::string_view text) const;
  // With the mark behind the first character of each control token.
  std::string Marked(std::string_view text, std::string_view mark) const;
  Result<std::vector<TokenId>> EncodeMarked(std::string_view rendered, std::string_view mark) const;

  const Tokenizer& tokenizer_;
  const TokenizerSpec& spec_;
  const ChatTemplate& template_;
  std::vector<std::pair<std::string, TokenId>> controls_;  // by text
  bool first_bytes_[256] = {};                             // of the control tokens
  size_t control_bytes_max_ = 0;
};

}  // namespace samebit::text
