// What is said to a server and what it says back, as plain data, and the JSON of both. Pure functions.
//
// Three manners of speaking: OpenAI's chat completions and completions (with the additions of samebit, vLLM and
// llama.cpp where a server takes them), and SGLang's own /generate, the only one of SGLang's that tells token ids.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "http/sse_reader.h"
#include "text/chat_template.h"

namespace samebit::verify {

enum class Endpoint { kChat, kCompletions, kGenerate };
const char* EndpointName(Endpoint endpoint);  // "/v1/chat/completions" ...

// What of the optional parts a server takes; the probe finds out.
struct Manner {
  Endpoint endpoint = Endpoint::kChat;
  bool token_ids = false;   // return_token_ids
  bool logprobs = false;    // with five candidates
  bool ignore_eos = false;
  bool seed = false;
};

struct WireRequest {
  std::string model;
  std::vector<text::ChatMessage> messages;
  uint32_t tokens_max = 16;
  uint32_t samples = 1;
  bool streamed = false;
  double temperature = 0;
  std::optional<double> top_p, presence_penalty, frequency_penalty;
  std::optional<uint64_t> seed;
};
std::string WireRequestJson(const WireRequest& request, const Manner& manner);

struct WireCandidate {
  std::optional<TokenId> id;
  std::string bytes;
  double logprob = 0;
};
struct WireToken {
  WireCandidate token;
  bool has_logprob = false;
  std::vector<WireCandidate> top;
};
struct WireChoice {
  std::string text;
  std::vector<TokenId> ids;        // empty: not told
  std::vector<WireToken> tokens;   // empty: no log-probabilities
  std::string finish_reason;       // empty: none yet
};
struct WireAnswer {
  std::map<uint32_t, WireChoice> choices;  // by index
  std::optional<uint32_t> prompt_tokens, completion_tokens, cached_tokens;
  std::string fingerprint;  // system_fingerprint; empty: none. It may depend on the request's parameters (samebit's does)
  std::string maker;        // what computed it, whatever was asked: samebit's numeric and deployment digests, else as above
};

// Adds what `json` (a whole answer, or one chunk of a stream) says to `answer`. Failures: kMalformed (not JSON, not of
// the expected form), kInternal (an error object, with the server's sentence).
Status AddToAnswer(std::string_view json, const Manner& manner, WireAnswer& answer);

// Puts the answer of a stream together, event by event.
class WireStream {
 public:
  explicit WireStream(const Manner& manner) : manner_(manner) {}
  Status Take(const http::SseEvent& event);
  // At the end of the body. Failure: kMalformed (no [DONE], a choice without its end).
  Result<WireAnswer> Finish();
  bool has_tokens() const { return !answer_.choices.empty(); }

 private:
  const Manner manner_;
  WireAnswer answer_;
  bool done_ = false;
};

// The sentence of an error body, bounded and printable: for messages.
std::string ErrorSentence(std::string_view body);

}  // namespace samebit::verify
