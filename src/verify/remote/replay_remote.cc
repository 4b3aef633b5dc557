#include "verify/remote/replay_remote.h"

#include <algorithm>
#include <numeric>

#include "base/digest.h"
#include "verify/matrix.h"
#include "verify/plan.h"
#include "verify/prompt_set.h"
#include "verify/remote/remote_plan.h"

namespace samebit::verify {
namespace {

std::string PromptsSha256(const std::vector<PreparedPrompt>& prompts) {
  Sha256 all;
  for (const PreparedPrompt& prompt : prompts) {
    all.Update(prompt.id + "\n");
    for (const text::ChatMessage& message : prompt.messages)
      all.Update(message.role + "\n" + std::to_string(message.content.size()) + "\n" + message.content);
  }
  return all.Finish().hex();
}

// Takes out the prompts that this server has no room for. Asked with another beginning, so that no cache of prompts is
// warm when the base answers are made. Failures: those of AskServer that are no refusals.
Status DropTooLong(const Site& site, const ServerFacts& facts, uint32_t answer_tokens,
                   std::vector<PreparedPrompt>& prompts, std::vector<std::string>& notes) {
  std::vector<size_t> longest_first(prompts.size());
  std::iota(longest_first.begin(), longest_first.end(), size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](size_t a, size_t b) { return prompts[a].tokens_estimated > prompts[b].tokens_estimated; });
  const auto client = Connect(site);
  std::vector<bool> dropped(prompts.size(), false);
  std::string names, sentence;
  for (const size_t index : longest_first) {
    WireRequest request;
    request.model = facts.model;
    request.messages = prompts[index].messages;
    request.messages.front().content.insert(0, "1. ");
    request.tokens_max = answer_tokens;
    const auto told = AskServer(*client, site, request, facts.manner);
    if (told.ok()) break;
    if (told.error().code != ErrorCode::kUnsupported) return told.error();
    dropped[index] = true;
    names += (names.empty() ? "" : ", ") + prompts[index].id;
    sentence = told.error().message;
  }
  if (names.empty()) return {};
  notes.push_back("left out, because the server refuses them: " + names + " (" + sentence + ")");
  std::vector<PreparedPrompt> kept;
  for (size_t i = 0; i < prompts.size(); ++i)
    if (!dropped[i]) kept.push_back(std::move(prompts[i]));
  prompts = std::move(kept);
  if (!prompts.empty()) return {};
  return Error{ErrorCode::kContextOverflow, "the server refuses every prompt: " + sentence};
}

RemoteReport ReportOf(const Site& site, const ServerFacts& facts) {
  RemoteReport report;
  report.url = site.url.origin() + site.url.path;
  report.server = facts.kind;
  report.endpoint = EndpointName(facts.manner.endpoint);
  report.fingerprint = facts.maker;
  report.identity = IdentityName(facts.identity);
  report.identity_source = facts.identity_source;
  report.logprobs_compared = facts.manner.logprobs && facts.identity != Identity::kText;
  report.notes = facts.notes;
  return report;
}

}  // namespace

Result<ReplayReport> RunRemoteReplay(const RemoteReplayOptions& options, const ReplayHooks& hooks) {
  CHECK(hooks.clock != nullptr);
  const uint64_t started_ns = hooks.clock->monotonic_ns();
  ReplayReport report;
  report.started_utc = UtcText(hooks.clock->unix_ns());
  const PlanSizes& sizes = options.plan == PlanKind::kQuick ? QuickSizes() : FullSizes();
  const Site site = {options.url, options.api_key, options.stall_seconds, hooks.clock, hooks.cancelled};
  ASSIGN_OR_RETURN(ServerFacts facts, ProbeServer(site, options.model, options.endpoint));

  MatrixInputs inputs;
  inputs.prompts = RemotePrompts(options.prompts.empty() ? BuiltInPrompts() : options.prompts, sizes);
  RETURN_IF_ERROR(DropTooLong(site, facts, sizes.output_tokens, inputs.prompts, facts.notes));
  const std::vector<Cell> plan = MakeRemotePlan({.sizes = sizes,
                                                 .seeds = facts.manner.seed,
                                                 .restarts = options.restart != nullptr,
                                                 .in_flight_max = options.in_flight_max,
                                                 .prompts = &inputs.prompts});
  ASSIGN_OR_RETURN(inputs.cells, OnlyAxes(plan, options.axes));
  uint32_t samples_max = 1;
  for (const Cell& cell : inputs.cells)
    for (const CellRequest& request : cell.requests) samples_max = std::max(samples_max, request.samples);

  report.plan = options.plan == PlanKind::kQuick ? "quick" : "full";
  report.model_name = facts.model;
  report.prompt_set = options.prompt_set;
  report.prompt_set_sha256 = PromptsSha256(inputs.prompts);
  report.prompt_count = static_cast<uint32_t>(inputs.prompts.size());
  report.seed = options.seed;
  report.version = options.version;
  report.remote = ReportOf(site, facts);
  RemoteAnswerer answerer(site, facts, inputs.prompts, options.seed, samples_max, options.restart);
  RETURN_IF_ERROR(RunMatrix(inputs, answerer, hooks, report));
  for (std::string& suspicion : answerer.Suspicions()) report.remote->notes.push_back(std::move(suspicion));
  report.seconds = static_cast<double>(hooks.clock->monotonic_ns() - started_ns) * 1e-9;
  return report;
}

}  // namespace samebit::verify
