// The pieces that answers and chunks are made of, as plain data, and how each is written as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/types.h"

namespace samebit::openai {

struct TopEntry {
  std::string token;  // as text; bytes that are no character by themselves as U+FFFD
  std::string bytes;
  float logprob = 0;
  TokenId id = 0;
};

struct TokenEntry {
  TopEntry token;
  bool has_logprob = true;  // false: the first token of a prompt
  std::vector<TopEntry> top;
  std::optional<float> margin;  // largest logit minus second largest; only where it was asked for
};

struct Usage {
  uint64_t prompt_tokens = 0;
  uint64_t completion_tokens = 0;
  uint64_t cached_tokens = 0;
};

// One try at an answer that is validated.
struct Attempt {
  std::string seed;
  std::string finish_reason;
  uint64_t completion_tokens = 0;
  std::string complaint;  // "": the answer is valid
};

// What an answer says about how it was made.
struct Reproducibility {
  int tier_requested = 2;
  int tier_effective = 2;
  std::string inference_fingerprint, semantic_sha256, numeric_sha256, deployment_sha256;
  std::string seed;
  std::string effective_sampling_json;
  std::string prompt_template_name, prompt_template_version, prompt_template_sha256;  // empty: none was used
  bool has_logprobs = false;  // then it says of what they are: the raw logits
  std::vector<std::string> ignored_fields;
  std::vector<Attempt> attempts;  // with samebit_retries, in order; the last one is the answer
};

// The top of every answer and chunk.
struct AnswerHead {
  std::string id;
  int64_t created = 0;  // unix seconds
  std::string model;
  std::string system_fingerprint;
};

void WriteHead(JsonWriter& json, const AnswerHead& head, const char* object);
void WriteIds(JsonWriter& json, const std::vector<TokenId>& ids);
void WriteUsage(JsonWriter& json, const Usage& usage);
void WriteReproducibility(JsonWriter& json, const Reproducibility& reproducibility);
// Chat: {"content": [{token, logprob, bytes, top_logprobs}], "refusal": null}. With margins: logit_margin in each.
void WriteChatLogprobs(JsonWriter& json, const std::vector<TokenEntry>& tokens);
// Completions, the old shape: tokens, token_logprobs, top_logprobs, text_offset; with margins: logit_margins. The offset counts characters (code
// points) from text_offset on, and is left behind the last token.
void WriteCompletionLogprobs(JsonWriter& json, const std::vector<TokenEntry>& tokens, uint64_t* text_offset);
// vLLM's prompt_logprobs: null for the first token, then {"<id>": {logprob, rank, decoded_token}}.
void WritePromptLogprobs(JsonWriter& json, const std::vector<TokenEntry>& tokens);

}  // namespace samebit::openai
