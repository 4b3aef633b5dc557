#include "verify/evidence.h"

#include <algorithm>
#include <set>

#include "kernels/isa.h"

namespace samebit::verify {
namespace {

std::string Number(uint64_t number) { return std::to_string(number); }

Evidence Shown(std::string text) { return {true, std::move(text), ""}; }
Evidence Missing(std::string text, std::string missing) { return {false, std::move(text), std::move(missing)}; }

struct Extremes {
  uint32_t min = UINT32_MAX;
  uint32_t max = 0;
  std::string text() const { return min == max ? Number(min) : Number(min) + " to " + Number(max); }
};

template <class Function>
Extremes Over(const CellRun& run, Function figure) {
  Extremes extremes;
  for (const RequestRun& request : run.requests) {
    const uint32_t value = figure(request.completion->trace);
    extremes.min = std::min(extremes.min, value);
    extremes.max = std::max(extremes.max, value);
  }
  return extremes;
}

uint32_t Sequences(const engine::RequestTrace& trace) { return trace.sequences_in_step_max; }

// Every compared request shared a pass with as many others as the cell asks for.
Evidence Together(const Cell& cell, const CellRun& run) {
  const Extremes sequences = Over(run, Sequences);
  const std::string text = sequences.max <= 1 ? "alone in every pass" : sequences.text() + " sequences in a pass";
  if (cell.in_flight == 1 && sequences.max > 1) return Missing(text, "a request was not alone");
  if (sequences.min < cell.in_flight)
    return Missing(text, "expected every request to share a pass with " + Number(cell.in_flight) + " in all");
  return Shown(text);
}

Evidence OfPromptLength(const Cell& cell, const CellRun& run, const std::vector<PreparedPrompt>& prompts) {
  Extremes tokens;
  for (const CellRequest& request : cell.requests) {
    tokens.min = std::min(tokens.min, prompts[request.prompt].token_count());
    tokens.max = std::max(tokens.max, prompts[request.prompt].token_count());
  }
  const std::string text = "prompts of " + tokens.text() + " tokens";
  if (tokens.min < cell.prompt_tokens.min || tokens.max > cell.prompt_tokens.max)
    return Missing(text, "expected " + Number(cell.prompt_tokens.min) + " tokens at least and " +
                             Number(cell.prompt_tokens.max) + " at most");
  for (const RequestRun& request : run.requests)
    if (request.completion->prompt_tokens > 1 && request.completion->trace.prefill_chunk_max < 2)
      return Missing(text, "expected prefill in chunks, found a prompt that was computed token by token");
  return Shown(text);
}

Evidence OfOutputLength(const Cell& cell, const CellRun& run) {
  Extremes tokens;
  for (const RequestRun& request : run.requests)
    for (const engine::Choice& choice : request.completion->choices) {
      tokens.min = std::min<uint32_t>(tokens.min, choice.tokens.size());
      tokens.max = std::max<uint32_t>(tokens.max, choice.tokens.size());
    }
  const std::string text = "answers of " + tokens.text() + " tokens";
  uint32_t asked = 0;
  for (const CellRequest& request : cell.requests) asked = std::max(asked, request.tokens_max);
  if (tokens.max < asked) return Missing(text, "expected answers of " + Number(asked) + " tokens");
  return Shown(text);
}

Evidence OfBatchShape(const Cell& cell, const CellRun& run, const std::vector<PreparedPrompt>& prompts) {
  std::set<uint32_t> lengths;
  for (const CellRequest& request : cell.requests) lengths.insert(prompts[request.prompt].token_count());
  if (cell.value == "uniform") {
    Evidence together = Together(cell, run);
    if (together.shown && lengths.size() != 1) return Missing(together.text, "the requests were not identical");
    return together;
  }
  uint32_t beside = 0;
  for (const RequestRun& request : run.requests)
    beside += request.completion->trace.rows_in_step_max > request.completion->trace.sequences_in_step_max &&
              request.completion->trace.sequences_in_step_max > 1;
  const std::string text = Number(lengths.size()) + " lengths; prefill shared a pass with other requests in " +
                           Number(beside) + " of " + Number(run.requests.size());
  if (lengths.size() < 2 || beside == 0) return Missing(text, "expected prefill rows beside other requests' rows");
  return Shown(text);
}

Evidence OfNeighbours(const Cell& cell, const CellRun& run) {
  Evidence together = Together(cell, run);
  together.text +=
      ", " + Number(run.company_started) + (cell.company == Company::kHot ? " hot" : " greedy") + " neighbours";
  if (together.shown && run.company_started == 0) return Missing(together.text, "expected neighbours, found none");
  return together;
}

Evidence OfPrefillChunk(const Cell& cell, const CellRun& run) {
  const Extremes chunks = Over(run, [](const engine::RequestTrace& trace) { return trace.prefill_chunk_max; });
  const std::string text = "chunks of " + chunks.text() + " tokens";
  for (const RequestRun& request : run.requests) {
    const uint32_t prompt = request.completion->prompt_tokens;
    const uint32_t expected = std::min(prompt, cell.options.prefill_chunk);
    if (request.completion->trace.prefill_chunk_max != expected)
      return Missing(text,
                     "expected a chunk of " + Number(expected) + " for a prompt of " + Number(prompt) + " tokens");
    if (cell.value != "whole" && prompt <= cell.options.prefill_chunk)
      return Missing(text, "expected prompts longer than the chunk, found one of " + Number(prompt) + " tokens");
  }
  return Shown(text);
}

Evidence OfPrefixCache(const Cell& cell, const CellRun& run) {
  const Extremes cached = Over(run, [](const engine::RequestTrace& trace) { return trace.cached_prompt_tokens; });
  const std::string text = cached.text() + " cached tokens";
  const bool should_hit = cell.value == "warm";
  if (cell.value != "off" && !run.options.prefix_cache) return Missing(text, "expected the prefix cache to be on");
  if (should_hit && cached.min == 0) return Missing(text, "expected every request to take tokens from the cache");
  if (!should_hit && cached.max > 0) return Missing(text, "expected no token from the cache");
  if (cell.before == Before::kSameRequests && run.steps_before == 0)
    return Missing(text, "expected the requests to have run before");
  return Shown(text);
}

Evidence OfPreemption(const CellRun& run) {
  uint32_t preempted = 0, most = 0;
  for (const RequestRun& request : run.requests) {
    preempted += request.completion->trace.preemptions > 0;
    most = std::max(most, request.completion->trace.preemptions);
  }
  const std::string text =
      Number(preempted) + " of " + Number(run.requests.size()) + " preempted, at most " + Number(most) + " times";
  if (preempted == 0) return Missing(text, "expected a compared request to be preempted");
  return Shown(text);
}

Evidence OfSetting(const char* name, const std::string& asked, const std::string& found) {
  const std::string text = std::string(name) + " " + found;
  if (asked != found) return Missing(text, "expected " + asked);
  return Shown(text);
}

Evidence OfPageTokens(const Cell& cell, const CellRun& run) {
  Evidence setting = OfSetting("page of", Number(cell.options.page_tokens), Number(run.options.page_tokens));
  if (!setting.shown) return setting;
  for (const RequestRun& request : run.requests) {
    uint64_t longest = 0;
    for (const engine::Choice& choice : request.completion->choices) longest = std::max(longest, choice.tokens.size());
    if (request.completion->prompt_tokens + longest <= cell.options.page_tokens)
      return Missing(setting.text, "expected every sequence to fill more than one page");
  }
  return Shown(setting.text + ", boundaries crossed");
}

Evidence OfProcess(const Cell& cell, const CellRun& run) {
  if (cell.where == Where::kHere) {
    const std::string text = Number(run.steps_before) + " steps for others before";
    if (run.steps_before == 0) return Missing(text, "expected the engine to have served others before");
    return Shown(text);
  }
  std::string text = "process " + Number(run.child_process_id) + ", not " + Number(run.own_process_id);
  if (run.child_process_id == run.own_process_id || run.child_process_id == 0)
    return Missing(text, "expected another process");
  if (run.child_model_sha256.empty() || run.child_model_sha256 != run.own_model_sha256)
    return Missing(text, "expected the child to have loaded the same model bytes");
  if (cell.where == Where::kRestarted) return Shown(text);
  if (run.child_model_path == run.own_model_path) return Missing(text, "expected another copy of the model");
  return Shown(text + ", another copy of the model");
}

Evidence OfOrder(const Cell& cell, const CellRun& run) {
  Evidence together = Together(cell, run);
  if (together.shown && cell.reordered && cell.requests.size() < 2)
    return Missing(together.text, "expected at least two requests to change places");
  return together;
}

}  // namespace

Evidence EvidenceOfSamples(const Cell& cell, const CellRun& run) {
  std::set<std::vector<TokenId>> distinct;
  uint32_t asked = 0, found = 0;
  for (size_t i = 0; i < run.requests.size(); ++i) {
    asked += cell.requests[i].samples;
    for (const engine::Choice& choice : run.requests[i].completion->choices) {
      ++found;
      std::vector<TokenId> ids;
      for (const engine::TokenRecord& token : choice.tokens) ids.push_back(token.id);
      distinct.insert(std::move(ids));
    }
  }
  const std::string text = Number(found) + " samples, " + Number(distinct.size()) + " distinct";
  if (found != asked) return Missing(text, "expected " + Number(asked) + " samples");
  if (asked > 1 && distinct.size() < 2) return Missing(text, "expected samples that differ from each other");
  return Shown(text);
}

Evidence EvidenceOf(const Cell& cell, const CellRun& run, const std::vector<PreparedPrompt>& prompts) {
  if (!cell.impossible.empty()) return Missing("", cell.impossible);
  if (!run.failure.empty()) return Missing("", run.failure);
  if (cell.requests.empty() || run.requests.size() != cell.requests.size())
    return Missing("", "expected an answer to each of " + Number(cell.requests.size()) + " requests, found " +
                           Number(run.requests.size()));
  for (const RequestRun& request : run.requests)
    if (!request.completion) return Missing("", request.error.empty() ? "a request got no answer" : request.error);
  switch (cell.axis) {
    case Axis::kConcurrency:
      return Together(cell, run);
    case Axis::kPromptLength:
      return OfPromptLength(cell, run, prompts);
    case Axis::kOutputLength:
      return OfOutputLength(cell, run);
    case Axis::kBatchShape:
      return OfBatchShape(cell, run, prompts);
    case Axis::kNeighbours:
      return OfNeighbours(cell, run);
    case Axis::kPrefillChunk:
      return OfPrefillChunk(cell, run);
    case Axis::kPrefixCache:
      return OfPrefixCache(cell, run);
    case Axis::kPreemption:
      return OfPreemption(run);
    case Axis::kTensorParallel:
      return OfSetting("ranks", Number(cell.options.tensor_parallel), Number(run.options.tensor_parallel));
    case Axis::kThreads:
      return OfSetting("threads", Number(cell.options.threads), Number(run.options.threads));
    case Axis::kIsa:
      return OfSetting("kernels", kernels::IsaName(cell.options.isa), kernels::IsaName(run.options.isa));
    case Axis::kProcess:
      return OfProcess(cell, run);
    case Axis::kPageTokens:
      return OfPageTokens(cell, run);
    case Axis::kOrder:
      return OfOrder(cell, run);
    case Axis::kSamples:
      return EvidenceOfSamples(cell, run);
    case Axis::kStreaming:
    case Axis::kRepeat:
      return Missing("", "an axis of servers only");
  }
  return Missing("", "an axis without evidence");
}

}  // namespace samebit::verify
