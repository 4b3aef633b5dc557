// What an engine is asked and what it answers: plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/types.h"
#include "text/grammar.h"

namespace samebit::engine {

// Rule S and what comes before it. Order of operations on a position's logits:
//   bias, repetition, presence and frequency penalties, stop ids masked while tokens_min is not reached, all that the
//   grammar forbids masked,
//   then greedy (temperature 0), or temperature, top-k, top-p (over the survivors of top-k), min-p, draw.
// Log-probabilities, margins and digests that are reported are always those of the raw logits, before all of this.
struct SamplingParams {
  float temperature = 0;                              // 0: greedy; else 0.01..100
  uint32_t top_k = 0;                                 // 0: off
  float top_p = 1;                                    // (0, 1]
  float min_p = 0;                                    // [0, 1)
  float repetition_penalty = 1;                       // (0, 10]; over prompt and answer
  float presence_penalty = 0;                         // [-2, 2]; over the answer
  float frequency_penalty = 0;                        // [-2, 2]; over the answer
  std::vector<std::pair<TokenId, float>> logit_bias;  // [-100, 100], ids ascending, no repeats
  uint64_t seed = 0;
};

struct Request {
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  uint32_t samples = 1;  // n
  uint32_t first_sample_index =
      0;  // the samples' indices are first_sample_index + 0 .. n-1: any one can be made again alone
  uint32_t tokens_max = 16;
  uint32_t tokens_min = 0;
  std::vector<TokenId> stop_ids;  // ascending; end the answer, are part of its ids and not of its text
  std::vector<std::string> stop_strings;
  uint32_t top_logprobs = 0;    // candidates reported per token, 0..64
  bool logits_digests = false;  // SHA-256 over the binary32 logits of every generated position
  bool score_prompt = false;    // a TokenRecord for every prompt token after the first, with the bits of generation
  uint32_t beam_width = 0;      // > 0: beam search; sampling must be greedy and samples 1..beam_width
  // The form of the answer; null: free. Stop ids are let through where the answer may end (a stop id that the grammar
  // itself takes, anywhere), and an answer that nothing may follow ends there, kStop, even before tokens_min. Not with
  // beam_width. A state of it belongs to each sample and is a function of that sample's tokens.
  std::shared_ptr<const text::Grammar> grammar;
  int32_t priority_order = 0;   // smaller first among waiting requests; ties by arrival
};

struct TopToken {
  TokenId id = 0;
  float logprob = 0;
};

// One position. For generated tokens: the token that followed from these logits. For scored prompts: the prompt's own.
struct TokenRecord {
  TokenId id = 0;
  float logprob = 0;           // of `id`, raw
  float margin = 0;            // largest logit minus second largest, raw
  Sha256Digest logits_digest;  // if asked for
  std::vector<TopToken> top;   // by rule S's order, raw log-probabilities
};

enum class FinishReason { kStop, kLength, kCancelled };
const char* FinishReasonName(FinishReason reason);  // "stop", "length", "cancelled"

struct Choice {
  uint32_t sample_index = 0;
  std::vector<TokenRecord> tokens;
  std::string text;  // without the stop string or the stop id
  FinishReason finish_reason = FinishReason::kLength;
  double cumulative_logprob = 0;  // sum of the tokens' raw log-probabilities, ascending, binary64
  Sha256Digest logits_digest;     // over the logits of every generated position, if asked for
};

// What really happened to a request: the proof that a replay cell exercised its axis.
struct RequestTrace {
  uint32_t cached_prompt_tokens = 0;  // taken from the prefix cache, all samples together
  uint32_t preemptions = 0;
  uint32_t sequences_in_step_max = 0;  // most sequences that shared a forward pass with this one, itself included
  uint32_t rows_in_step_max = 0;
  uint32_t prefill_chunk_max = 0;  // most prompt rows of this request in one pass
  uint32_t steps = 0;
};

struct Completion {
  std::vector<Choice> choices;              // by sample index; beams by score
  std::vector<TokenRecord> prompt_records;  // [prompt tokens - 1] if asked for
  uint64_t seed = 0;
  uint32_t prompt_tokens = 0;
  RequestTrace trace;
};

}  // namespace samebit::engine
