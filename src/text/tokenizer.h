// Text <-> token ids. Token ids are the truth; text is derived from them and never turned back into ids.
//
// The abstract class is all that engine sees; MakeTokenizer builds one from a model's own data.
// A Tokenizer is immutable and may be used from any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "base/types.h"

namespace samebit::text {

enum class Specials {
  kParse,    // "<|im_end|>" in the text becomes that token: for rendered templates
  kAsText,   // special tokens are spelled out as ordinary text: for strangers' input
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids of `text` (UTF-8). No bos or eos is added. Failure: kMalformed (not UTF-8), kTooLarge.
  virtual Result<std::vector<TokenId>> Encode(std::string_view text, Specials specials) const = 0;

  // The bytes that one token stands for; may be half a character. Empty for control tokens and ids without text.
  virtual std::string_view Bytes(TokenId id) const = 0;
  // The token as it is written in the vocabulary; "<|im_end|>" for control tokens. For people and top_logprobs.
  virtual std::string_view Piece(TokenId id) const = 0;
  virtual bool IsControl(TokenId id) const = 0;
  virtual uint32_t vocabulary() const = 0;
};

// Failures: kMalformed, kUnsupported (a pre-tokenizer or model kind that this build lacks).
Result<std::unique_ptr<Tokenizer>> MakeTokenizer(const TokenizerSpec& spec);

}  // namespace samebit::text
