// A request on its way through the engine. Engine-internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/sequence.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace samebit::engine {

// One sample's answer as it grows.
struct Answer {
  Choice choice;
  std::optional<text::Detokenizer> detokenizer;
  std::optional<text::StopStringMatcher> stops;
  Sha256 digests;  // over the digests of the positions
  bool done = false;
};

// A beam that has ended, or been cut off at tokens_max.
struct Hypothesis {
  std::vector<TokenRecord> tokens;
  double cumulative_logprob = 0;
  FinishReason finish_reason = FinishReason::kLength;
  // Beams are compared by mean log-probability, so that long answers are not punished for their length.
  double score() const { return cumulative_logprob / static_cast<double>(tokens.size()); }
};

struct Beam {
  Sequence* sequence = nullptr;
  std::vector<TokenRecord> tokens;
  double cumulative_logprob = 0;
  // What may follow, best first: filled by the step that computed the beam's newest position.
  std::vector<TokenRecord> candidates;
};

struct RequestState {
  RequestId id = 0;
  Request request;
  TokenSink sink;
  bool forked = false;          // the samples beyond the first exist
  bool prompt_scored = false;
  bool cancelled = false;
  std::optional<Error> error;
  std::vector<std::unique_ptr<Sequence>> sequences;
  std::vector<Answer> answers;  // [samples]; unused by beam search
  std::vector<Beam> beams;
  std::vector<Hypothesis> hypotheses;
  std::vector<TokenRecord> prompt_records;
  RequestTrace trace;
  uint64_t traced_step = 0;     // last step counted in trace.steps
  bool done = false;
};

}  // namespace samebit::engine
