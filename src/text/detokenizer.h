// Incremental detokenisation: token ids in, valid UTF-8 out, never half a character.
// One object per stream; not thread safe.
#pragma once

#include <string>

#include "base/types.h"
#include "text/tokenizer.h"

namespace samebit::text {

class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  // The text that becomes certain with this token; may be empty while a character is incomplete. Bytes that can no
  // longer become a character are given as U+FFFD, one per maximal invalid subsequence (as the WHATWG decoder does).
  std::string Push(TokenId id);
  // What was held back, as U+FFFD if it is an incomplete character. Ends the stream.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  std::string pending_;  // an incomplete character, at most 3 bytes
};

}  // namespace samebit::text
