// Answers of a server as the choices that the matrix compares, and by what their tokens are told apart.
#pragma once

#include <map>
#include <string>

#include "engine/request.h"
#include "verify/remote/wire.h"

namespace samebit::verify {

// By what two answers are the same, best first.
enum class Identity {
  kTokenIds,    // the ids themselves
  kTokenBytes,  // the bytes of the log-probability tokens: two ids with the same bytes count as one
  kText,        // the text: two ways to write it with tokens count as one
};
const char* IdentityName(Identity identity);  // "token_ids", "token_bytes", "text"

// The best identity that this answer allows.
Identity IdentityOf(const WireAnswer& answer);

// Not thread safe.
class ChoiceMaker {
 public:
  explicit ChoiceMaker(Identity identity) : identity_(identity) {}

  // Tokens get the ids of the server, or numbers of their own for what they are made of; at kText each byte of the text
  // is one. Candidates with their log-probabilities are part of a token's digest, as the server wrote them (binary64).
  // Failures: kMalformed (an answer that tells less than the identity needs, or that ends by its length before it).
  Result<engine::Completion> Make(const WireAnswer& answer, const WireRequest& request);

 private:
  Result<engine::Choice> MakeChoice(const WireChoice& choice);
  TokenId NumberOf(const WireCandidate& candidate);
  engine::TokenRecord RecordOf(const WireToken& token);

  Identity identity_;
  std::map<std::string, TokenId> numbers_;  // of token bytes
};

}  // namespace samebit::verify
