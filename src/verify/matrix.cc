#include "verify/matrix.h"

#include <map>

#include "engine/engine.h"
#include "verify/drift.h"
#include "verify/judge.h"
#include "verify/progress_meter.h"

namespace samebit::verify {
namespace {

using NeededAnswers = std::map<BaseKey, uint32_t>;

uint64_t TokensOf(const NeededAnswers& needed, const std::vector<PreparedPrompt>& prompts) {
  uint64_t tokens = 0;
  for (const auto& [key, answer_tokens] : needed) tokens += prompts[key.prompt].token_count() + answer_tokens;
  return tokens;
}

uint64_t TokensOf(const Cell& cell, const std::vector<PreparedPrompt>& prompts) {
  uint64_t tokens = 0;
  if (!cell.impossible.empty()) return 0;
  for (const CellRequest& request : cell.requests)
    tokens += prompts[request.prompt].token_count() + uint64_t{request.samples} * request.tokens_max;
  return cell.before == Before::kSameRequests ? 2 * tokens : tokens;
}

BaseReport BaseReportOf(const BaseKey& key, const PreparedPrompt& prompt, const engine::Completion& completion) {
  BaseReport report;
  report.prompt_id = prompt.id;
  report.category = prompt.category;
  report.sampling = key.sampling;
  report.sample_index = key.sample_index;
  report.prompt_tokens = completion.prompt_tokens;
  report.prefill_chunk = prompt.base_chunk;
  for (const engine::TokenRecord& token : completion.choices.front().tokens) {
    report.token_ids.push_back(token.id);
    report.margins.push_back(token.margin);
  }
  report.answer_sha256 = engine::AnswerDigest(completion).hex();
  return report;
}

Result<BaseAnswers> MakeBaseAnswers(const MatrixInputs& inputs, const NeededAnswers& needed, Answerer& answerer,
                                    ProgressMeter& meter, ReplayReport& report) {
  BaseAnswers bases;
  uint64_t tokens_before = 0;
  for (const auto& [key, tokens] : needed) {
    const PreparedPrompt& prompt = inputs.prompts[key.prompt];
    auto completion =
        answerer.BaseAnswer(key, tokens, [&](uint64_t tokens_done) { return meter.Step(tokens_before + tokens_done); });
    if (!completion.ok())
      return Error{completion.error().code,
                   "base answer of prompt \"" + prompt.id + "\": " + completion.error().message};
    if (completion->choices.size() != 1)
      return Error{ErrorCode::kInternal, "base answer of prompt \"" + prompt.id + "\": expected one choice"};
    tokens_before += prompt.token_count() + tokens;
    report.bases.push_back(BaseReportOf(key, prompt, *completion));
    bases.Put(key, std::move(completion->choices.front()), tokens);
  }
  return bases;
}

Result<CellRun> RunIfPossible(const Cell& cell, Answerer& answerer, ProgressMeter& meter) {
  if (cell.impossible.empty())
    return answerer.Run(cell, [&](uint64_t tokens_done) { return meter.Step(tokens_done); });
  CellRun run;
  run.options = cell.options;
  return run;
}

}  // namespace

Status RunMatrix(const MatrixInputs& inputs, Answerer& answerer, const ReplayHooks& hooks, ReplayReport& report) {
  const NeededAnswers needed = BaseAnswersNeeded(inputs.cells);
  uint64_t tokens_total = TokensOf(needed, inputs.prompts);
  for (const Cell& cell : inputs.cells) tokens_total += TokensOf(cell, inputs.prompts);
  ProgressMeter meter(hooks, static_cast<uint32_t>(inputs.cells.size()), tokens_total);

  meter.Begin("base answers", 0, TokensOf(needed, inputs.prompts));
  ASSIGN_OR_RETURN(const BaseAnswers bases, MakeBaseAnswers(inputs, needed, answerer, meter, report));
  meter.End(nullptr);

  for (uint32_t i = 0; i < inputs.cells.size(); ++i) {
    const Cell& cell = inputs.cells[i];
    const double began = meter.seconds();
    meter.Begin(std::string(AxisTitle(cell.axis)) + ": " + cell.value, i + 1, TokensOf(cell, inputs.prompts));
    ASSIGN_OR_RETURN(const CellRun run, RunIfPossible(cell, answerer, meter));
    if (meter.cancelled()) return Error{ErrorCode::kCancelled, "replay was cancelled"};
    CellReport judged = JudgeCell(cell, run, answerer.EvidenceFor(cell, run), bases, inputs.prompts, inputs.base);
    judged.seconds = meter.seconds() - began;
    meter.End(&judged.verdict);
    report.cells.push_back(std::move(judged));
  }
  AttributeDrift(report.cells, {.bits_compared = !report.remote || report.remote->logprobs_compared});
  return {};
}

}  // namespace samebit::verify
