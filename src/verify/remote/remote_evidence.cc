#include "verify/remote/remote_evidence.h"

#include <algorithm>
#include <set>

namespace samebit::verify {
namespace {

// Below this many looks at a server's count, a batch may have come and gone unseen. A server that was seen to work on
// several requests must be caught at one of them more often before its count is held against it.
constexpr uint32_t kCountsNeeded = 5;
constexpr uint32_t kCountsNeededAgainstStreams = 50;

std::string Number(uint64_t number) { return std::to_string(number); }

Evidence Shown(std::string text) { return {true, std::move(text), ""}; }
Evidence Missing(std::string text, std::string missing) { return {false, std::move(text), std::move(missing)}; }

// Requests were in flight together, and the server worked on more than one of them.
Evidence Together(const Cell& cell, const CellRun& run, const ServerFacts& facts) {
  uint32_t least = UINT32_MAX, most = 0;
  for (const RequestRun& request : run.requests) {
    least = std::min(least, request.completion->trace.sequences_in_step_max);
    most = std::max(most, request.completion->trace.sequences_in_step_max);
  }
  std::string text = most <= 1 ? "alone" : (least == most ? "" : Number(least) + " to ") + Number(most) + " in flight";
  if (cell.in_flight == 1) return most <= 1 ? Shown(text) : Missing(text, "a request was not alone");
  if (most < cell.in_flight || least < 2)
    return Missing(text, "expected " + Number(cell.in_flight) + " requests in flight, and none alone");
  const SeenFromOutside& seen = *run.outside;
  if (seen.running_counted_max) {
    text += "; the server counted " + Number(*seen.running_counted_max);
    if (*seen.running_counted_max >= 2) return Shown(text);
    if (seen.counts_taken >= (facts.works_on_several ? kCountsNeededAgainstStreams : kCountsNeeded))
      return Missing(text, "the server never worked on two requests at once");
  }
  if (!facts.works_on_several)
    return Missing(text, "it was never seen that the server works on two requests at once: of two streams, the second "
                         "began when the first had ended");
  return Shown(text + "; two streams were seen side by side");
}

Evidence OfPromptLength(const Cell& cell, Evidence together, const CellRun& run) {
  uint32_t least = UINT32_MAX, most = 0;
  for (const RequestRun& request : run.requests) {
    least = std::min(least, request.completion->prompt_tokens);
    most = std::max(most, request.completion->prompt_tokens);
  }
  const std::string text =
      most == 0 ? "prompt lengths not told" : "prompts of " + Number(least) + " to " + Number(most) + " tokens";
  together.text = text + "; " + together.text;
  if (together.shown && most > 0 && least < cell.prompt_tokens.min)
    return Missing(together.text, "expected prompts of " + Number(cell.prompt_tokens.min) + " tokens or more");
  return together;
}

Evidence OfOutputLength(const Cell& cell, Evidence together, const CellRun& run) {
  uint32_t asked = 0;
  uint64_t most = 0;
  bool by_length = false, is_text = false;
  for (size_t i = 0; i < run.requests.size(); ++i) {
    asked = std::max(asked, cell.requests[i].tokens_max);
    is_text = is_text || run.requests[i].is_text;
    for (const engine::Choice& choice : run.requests[i].completion->choices) {
      most = std::max<uint64_t>(most, choice.tokens.size());
      by_length = by_length || choice.finish_reason == engine::FinishReason::kLength;
    }
  }
  together.text = "answers of up to " + Number(most) + (is_text ? " bytes; " : " tokens; ") + together.text;
  if (together.shown && (is_text ? !by_length : most < asked))
    return Missing(together.text, "expected an answer of " + Number(asked) + " tokens; all ended before");
  return together;
}

Evidence OfNeighbours(Evidence together, const CellRun& run) {
  together.text += "; " + Number(run.outside->company_answered) + " neighbours answered";
  if (together.shown && run.outside->company_answered == 0)
    return Missing(together.text, "no neighbour was answered to its end");
  return together;
}

Evidence OfBatchShape(const Cell& cell, Evidence together) {
  std::set<std::pair<uint32_t, uint32_t>> shapes;
  for (const CellRequest& request : cell.requests) shapes.insert({request.prompt, request.tokens_max});
  together.text = Number(shapes.size()) + (shapes.size() == 1 ? " shape; " : " shapes; ") + together.text;
  if (together.shown && (cell.value == "uniform") != (shapes.size() == 1))
    return Missing(together.text, "expected " + std::string(cell.value == "uniform" ? "one shape" : "several shapes"));
  return together;
}

Evidence OfProcess(const CellRun& run) {
  if (!run.outside->old_connection_broke)
    return Missing("", "a connection opened before the restart command still answers: the server was not restarted");
  return Shown("a connection from before is gone");
}

Evidence OfAxis(const Cell& cell, const CellRun& run, const ServerFacts& facts) {
  const Evidence together = Together(cell, run, facts);
  switch (cell.axis) {
    case Axis::kConcurrency: return together;
    case Axis::kPromptLength: return OfPromptLength(cell, together, run);
    case Axis::kOutputLength: return OfOutputLength(cell, together, run);
    case Axis::kBatchShape: return OfBatchShape(cell, together);
    case Axis::kNeighbours: return OfNeighbours(together, run);
    case Axis::kOrder: return together;
    case Axis::kProcess: return OfProcess(run);
    case Axis::kSamples: return EvidenceOfSamples(cell, run);
    case Axis::kStreaming: return Shown(cell.streamed ? "streams that ended with [DONE]" : "whole answers");
    case Axis::kRepeat: return Shown(cell.value + " of each");
    default: return Missing("", "an axis that a client cannot move");
  }
}

}  // namespace

Evidence RemoteEvidenceOf(const Cell& cell, const CellRun& run, const ServerFacts& facts) {
  if (!cell.impossible.empty()) return Missing("", cell.impossible);
  if (!run.failure.empty()) return Missing("", run.failure);
  if (cell.requests.empty() || run.requests.size() != cell.requests.size()) return Missing("", "nothing was asked");
  for (const RequestRun& request : run.requests)
    if (!request.completion) return Missing("", request.error);
  Evidence evidence = OfAxis(cell, run, facts);
  if (!run.outside->other_maker.empty()) return Missing(evidence.text, run.outside->other_maker);
  uint64_t cached = 0;
  for (const RequestRun& request : run.requests) cached += request.completion->trace.cached_prompt_tokens;
  if (cached > 0) evidence.text += "; " + Number(cached) + " prompt tokens from its cache";
  return evidence;
}

}  // namespace samebit::verify
