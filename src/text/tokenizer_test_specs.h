// Tiny vocabularies and texts for the tests of this folder.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/tokenizer_spec.h"

namespace samebit::text {

inline TokenId AddPiece(TokenizerSpec* spec, std::string piece, TokenKind kind, float score = -1000.0f) {
  spec->pieces.push_back(std::move(piece));
  spec->kinds.push_back(kind);
  if (spec->gguf_model == "llama") spec->scores.push_back(score);
  spec->vocabulary = static_cast<uint32_t>(spec->pieces.size());
  return static_cast<TokenId>(spec->pieces.size()) - 1;
}

inline TokenId PieceId(const TokenizerSpec& spec, const std::string& piece) {
  const auto found = std::find(spec.pieces.begin(), spec.pieces.end(), piece);
  CHECK(found != spec.pieces.end());
  return static_cast<TokenId>(found - spec.pieces.begin());
}

// UTF-8 of a code point below U+0800.
inline std::string Utf8Below800(int code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// GPT-2's alphabet, one piece per byte; then what the merges make.
inline TokenizerSpec ByteLevelSpec(std::string pre, std::vector<std::string> merges) {
  TokenizerSpec spec;
  spec.gguf_model = "gpt2";
  spec.gguf_pre = std::move(pre);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    AddPiece(&spec, Utf8Below800(printable ? byte : next++), TokenKind::kNormal);
  }
  for (const std::string& merge : merges) {
    const size_t space = merge.find(' ');
    AddPiece(&spec, merge.substr(0, space) + merge.substr(space + 1), TokenKind::kNormal);
  }
  spec.merges = std::move(merges);
  return spec;
}

// <unk>, the 256 byte tokens, and the letters a to d and the space as pieces.
inline TokenizerSpec SentencePieceSpec() {
  TokenizerSpec spec;
  spec.gguf_model = "llama";
  spec.add_space_prefix = false;
  spec.unk = AddPiece(&spec, "<unk>", TokenKind::kUnknown);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    AddPiece(&spec, std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">", TokenKind::kByte);
  }
  for (const char* piece : {"a", "b", "c", "d", "\xE2\x96\x81"}) AddPiece(&spec, piece, TokenKind::kNormal, -5.0f);
  return spec;
}

inline std::vector<std::string> NastyTexts() {
  return {
      "Hello, world!",
      "   leading and trailing   ",
      "\t\ttabs\r\n\r\nCRLF\rCR",
      std::string("\x00\x01\x04\x7f control", 12),
      "12345 \xD9\xA1\xD9\xA2 \xC2\xB2 \xE2\x85\xA7",                                        // digits of many kinds
      "\xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C\xE4\xB8\x96\xE7\x95\x8C",                        // CJK
      "\xF0\x9F\x99\x82\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 \xF0\x9F\x87\xAB\xF0\x9F\x87\xB7",  // emoji, joined
      "\xC3\xA9 \xEF\xAC\x81 \xE1\xB8\x8B\xCC\xA3",                                          // composed, ligature
      "\xE2\x96\x81 \xC4\xA0 \xC4\x8A <0x0A> <|im_start|>",                                  // looks like pieces
      "\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF",                                            // edges of Unicode
      "\xE2\x80\x8B\xEF\xBB\xBF\xC2\xA0\xE3\x80\x80",                                        // invisible
      std::string(3000, 'a') + std::string(3000, ' ') + "b",
  };
}

}  // namespace samebit::text
