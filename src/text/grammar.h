// Grammars: which tokens may follow, so that an answer is JSON of a schema, or calls a tool.
//
// The engine sees Grammar and GrammarState; GrammarCompiler makes them for one vocabulary. A state is a function of the
// tokens that were committed to it and of nothing else: it shares no cache, reads no clock, and its bounds are counts
// (base/limits.h), so whether one is reached depends on the answer itself and not on its neighbours.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace samebit::text {

// Which masks a grammar gives. To be raised where the library or our own options (whitespace) let other tokens through than
// before: the digest of a form holds it, so that equal fingerprints mean equal masks. A golden digest watches over it.
inline constexpr std::string_view kGrammarVersion = "samebit-grammar/1";

// One answer as it grows. One thread at a time.
class GrammarState {
 public:
  virtual ~GrammarState() = default;

  // Sets bit id % 32 of words[id / 32] for each token that may follow, words: [(vocabulary + 31) / 32]. True: the answer
  // may end here; then no bit may be set. Control tokens are never among them.
  // Failures: kTooLarge (a bound), kUnsupported (no token of the vocabulary continues the answer).
  virtual Result<bool> Mask(std::span<uint32_t> words) = 0;
  // Takes the token that was chosen, one of the mask's. True: the answer is complete, nothing may follow.
  // Failure: kTooLarge.
  virtual Result<bool> Commit(TokenId id) = 0;
  virtual Result<std::unique_ptr<GrammarState>> Copy() const = 0;
};

// Immutable; any thread.
class Grammar {
 public:
  virtual ~Grammar() = default;
  virtual Result<std::unique_ptr<GrammarState>> Start() const = 0;
  // What is wrong with a whole answer; "" where nothing is, or where the grammar was not made to be validated.
  virtual Result<std::string> Complaint(std::string_view answer) const = 0;
};

struct GrammarSource {
  // A grammar in llguidance's Lark dialect that calls the schemas @schema0, @schema1, ...; "": the one schema is all.
  std::string lark;
  std::vector<std::string> schemas;  // JSON Schema texts
  // Keywords that no grammar can enforce (uniqueItems, not, if, overlapping oneOf, ...) are taken, and Complaint looks
  // at them. Else a schema that has one is refused.
  bool validates = false;
};

// Why a schema is refused, and where in it.
struct SchemaError {
  Error error;
  size_t schema_index = 0;
  std::string place;  // ".properties.name.pattern"; "" for the whole
};

// Immutable; any thread. Borrows nothing.
class GrammarCompiler {
 public:
  virtual ~GrammarCompiler() = default;
  // nullptr and `why` filled where it fails: kMalformed (no JSON, no schema), kUnsupported (a keyword, a reference),
  // kTooLarge (a bound).
  virtual std::shared_ptr<const Grammar> Compile(const GrammarSource& source, SchemaError& why) const = 0;
};

// The first Compile sorts the vocabulary: 0.1 s for 50,000 tokens, 1.5 s for 260,000. Failure: kTooLarge.
Result<std::unique_ptr<GrammarCompiler>> MakeGrammarCompiler(const Tokenizer& tokenizer);

}  // namespace samebit::text
