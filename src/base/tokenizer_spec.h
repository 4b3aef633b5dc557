// What a model file says about its tokenizer and prompts: plain data that model/ fills and text/ reads.
// Owned by value; no pointers into the model file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace samebit {

// Token kinds as GGUF numbers them (tokenizer.ggml.token_type).
enum class TokenKind : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct TokenizerSpec {
  // Exactly one of the two sources is present.
  // (1) A Hugging Face tokenizer.json, verbatim.
  std::string tokenizer_json;
  // (2) The pieces of GGUF metadata (tokenizer.ggml.*).
  std::string gguf_model;           // "gpt2" (byte-level BPE) or "llama" (SentencePiece with scores)
  std::string gguf_pre;             // pre-tokenizer name: "smollm", "qwen2", "llama-bpe", "gpt-2", "default"
  std::vector<std::string> pieces;  // [vocabulary]
  std::vector<float> scores;        // [vocabulary] or empty
  std::vector<TokenKind> kinds;     // [vocabulary] or empty
  std::vector<std::string> merges;  // "left right", in rank order
  bool add_space_prefix = true;

  // Both sources.
  uint32_t vocabulary = 0;  // rows of the embedding; ids at or above pieces.size() have no text
  bool add_bos = false;
  bool add_eos = false;
  std::optional<TokenId> bos, eos, unk, pad;
  std::vector<TokenId>
      stop_ids;  // ids that end an answer: eos, eot, and a checkpoint's own list; ascending, no repeats
  std::optional<std::string> chat_template;  // Jinja source
};

// Sampling values that the checkpoint itself asks for (generation_config.json); absent means it says nothing.
struct CheckpointSampling {
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<int32_t> top_k;
  std::optional<bool> do_sample;
};

}  // namespace samebit
