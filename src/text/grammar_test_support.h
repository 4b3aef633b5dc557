// Follows texts through grammars, a byte a token, for the tests of this folder.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/grammar.h"
#include "text/tokenizer_test_specs.h"

namespace samebit::text {

struct ByteVocabulary {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<GrammarCompiler> compiler;
  TokenId IdOf(unsigned char byte) const {
    for (TokenId id = 0; id < 256; ++id)
      if (tokenizer->Bytes(id) == std::string_view(reinterpret_cast<const char*>(&byte), 1)) return id;
    return -1;
  }
};

// 256 bytes, a token of two letters, a control token.
inline const ByteVocabulary& Bytes() {
  static const ByteVocabulary vocabulary = [] {
    TokenizerSpec spec = ByteLevelSpec("gpt-2", {"a b"});
    AddPiece(&spec, "<|end|>", TokenKind::kControl);
    ByteVocabulary made;
    made.tokenizer = std::move(MakeTokenizer(spec)).value();
    made.compiler = std::move(MakeGrammarCompiler(*made.tokenizer)).value();
    return made;
  }();
  return vocabulary;
}

inline bool Has(const std::vector<uint32_t>& words, TokenId id) {
  return (words[static_cast<size_t>(id) / 32] >> (id % 32) & 1) != 0;
}

inline std::vector<uint32_t> Words() { return std::vector<uint32_t>((Bytes().tokenizer->vocabulary() + 31) / 32); }

inline std::shared_ptr<const Grammar> CompileSchema(const std::string& schema, bool validates = false) {
  SchemaError why;
  auto grammar = Bytes().compiler->Compile({"", {schema}, validates}, why);
  if (grammar == nullptr) std::fprintf(stderr, "%s: %s\n", why.place.c_str(), why.error.message.c_str());
  CHECK(grammar != nullptr);
  return grammar;
}

inline SchemaError Refusal(const std::string& schema, bool validates = false) {
  SchemaError why;
  CHECK(Bytes().compiler->Compile({"", {schema}, validates}, why) == nullptr);
  return why;
}

// How many bytes of `text` the grammar lets through; the text's size + 1 where the answer may also end there.
inline size_t Follow(const Grammar& grammar, std::string_view text) {
  auto state = std::move(grammar.Start()).value();
  std::vector<uint32_t> words = Words();
  for (size_t i = 0; i < text.size(); ++i) {
    const auto may_end = state->Mask(words);
    const TokenId id = Bytes().IdOf(static_cast<unsigned char>(text[i]));
    if (!may_end.ok() || !Has(words, id)) return i;
    if (!state->Commit(id).ok()) return i;
  }
  const auto may_end = state->Mask(words);
  return text.size() + (may_end.ok() && *may_end ? 1 : 0);
}

inline bool Takes(const Grammar& grammar, std::string_view text) { return Follow(grammar, text) == text.size() + 1; }

}  // namespace samebit::text
