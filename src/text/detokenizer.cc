#include "text/detokenizer.h"

#include "text/utf8_stream.h"

namespace samebit::text {

std::string Detokenizer::Push(TokenId id) { return DecodeUtf8(tokenizer_->Bytes(id), &pending_); }

std::string Detokenizer::Finish() {
  // What is pending is a prefix of a character: one maximal subsequence, one U+FFFD.
  const bool incomplete = !pending_.empty();
  pending_.clear();
  return incomplete ? "\xEF\xBF\xBD" : "";
}

}  // namespace samebit::text
