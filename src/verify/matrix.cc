#include "verify/matrix.h"

#include <map>

#include "engine/engine.h"
#include "verify/base_answers.h"
#include "verify/drift.h"
#include "verify/judge.h"
#include "verify/progress_meter.h"
#include "verify/requests.h"
#include "verify/runner.h"

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
  report.prompt_tokens = prompt.token_count();
  report.prefill_chunk = prompt.base_chunk;
  for (const engine::TokenRecord& token : completion.choices.front().tokens) {
    report.token_ids.push_back(token.id);
    report.margins.push_back(token.margin);
  }
  report.answer_sha256 = engine::AnswerDigest(completion).hex();
  return report;
}

// One request alone in an engine that does nothing else, by the settings of the base.
class BaseRunner {
 public:
  BaseRunner(const MatrixInputs& inputs, ProgressMeter& meter) : inputs_(inputs), meter_(meter) {}

  Result<engine::Completion> Answer(const BaseKey& key, uint32_t tokens) {
    const PreparedPrompt& prompt = inputs_.prompts[key.prompt];
    ASSIGN_OR_RETURN(engine::Engine * engine, EngineFor(prompt.base_chunk));
    engine::Request request = RequestOf(
        {.prompt = key.prompt, .sampling = key.sampling, .tokens_max = tokens, .samples = 1}, prompt, inputs_.seed);
    request.first_sample_index = key.sample_index;
    ASSIGN_OR_RETURN(const engine::RequestId id, engine->Submit(std::move(request)));
    while (true) {
      const bool worked = engine->Step();
      if (!meter_.Step(rows_of_finished_ + engine->counters().rows))
        return Error{ErrorCode::kCancelled, "replay was cancelled"};
      if (auto answer = engine->Take(id)) return std::move(*answer);
      if (!worked) return Error{ErrorCode::kInternal, "the engine stopped without an answer"};
    }
  }

 private:
  Result<engine::Engine*> EngineFor(uint32_t chunk) {
    if (engine_ == nullptr || engine_->options().prefill_chunk != chunk) {
      if (engine_ != nullptr) rows_of_finished_ += engine_->counters().rows;
      engine_.reset();  // its KV cache goes before the next one comes
      engine::EngineOptions options = inputs_.base;
      options.prefill_chunk = chunk;
      ASSIGN_OR_RETURN(engine_, engine::Engine::Make(inputs_.weights, nullptr, options));
    }
    return engine_.get();
  }

  const MatrixInputs& inputs_;
  ProgressMeter& meter_;
  std::unique_ptr<engine::Engine> engine_;
  uint64_t rows_of_finished_ = 0;
};

Result<BaseAnswers> MakeBaseAnswers(const MatrixInputs& inputs, const NeededAnswers& needed, ProgressMeter& meter,
                                    ReplayReport& report) {
  BaseAnswers bases;
  BaseRunner runner(inputs, meter);
  for (const auto& [key, tokens] : needed) {
    const PreparedPrompt& prompt = inputs.prompts[key.prompt];
    auto completion = runner.Answer(key, tokens);
    if (!completion.ok())
      return Error{completion.error().code,
                   "base answer of prompt \"" + prompt.id + "\": " + completion.error().message};
    if (completion->choices.size() != 1)
      return Error{ErrorCode::kInternal, "base answer of prompt \"" + prompt.id + "\": expected one choice"};
    report.bases.push_back(BaseReportOf(key, prompt, *completion));
    bases.Put(key, std::move(completion->choices.front()));
  }
  return bases;
}

Result<CellRun> RunAnywhere(const Cell& cell, const MatrixInputs& inputs, const ReplayHooks& hooks,
                            ProgressMeter& meter) {
  if (!cell.impossible.empty()) {
    CellRun run;
    run.options = cell.options;
    return run;
  }
  if (cell.where != Where::kHere)
    return RunCellInChild(cell, {hooks.restart, hooks.copy_model, inputs.model_path, inputs.model_sha256,
                                 inputs.process_id, &inputs.prompts, inputs.seed});
  return RunCell(cell, {inputs.weights, &inputs.prompts, inputs.seed, [&](uint64_t rows) { return meter.Step(rows); }});
}

}  // namespace

Status RunMatrix(const MatrixInputs& inputs, const ReplayHooks& hooks, ReplayReport& report) {
  const NeededAnswers needed = BaseAnswersNeeded(inputs.cells);
  uint64_t tokens_total = TokensOf(needed, inputs.prompts);
  for (const Cell& cell : inputs.cells) tokens_total += TokensOf(cell, inputs.prompts);
  ProgressMeter meter(hooks, static_cast<uint32_t>(inputs.cells.size()), tokens_total);

  meter.Begin("base answers", 0, TokensOf(needed, inputs.prompts));
  ASSIGN_OR_RETURN(const BaseAnswers bases, MakeBaseAnswers(inputs, needed, meter, report));
  meter.End(nullptr);

  for (uint32_t i = 0; i < inputs.cells.size(); ++i) {
    const Cell& cell = inputs.cells[i];
    const double began = meter.seconds();
    meter.Begin(std::string(AxisTitle(cell.axis)) + ": " + cell.value, i + 1, TokensOf(cell, inputs.prompts));
    ASSIGN_OR_RETURN(const CellRun run, RunAnywhere(cell, inputs, hooks, meter));
    if (meter.cancelled()) return Error{ErrorCode::kCancelled, "replay was cancelled"};
    CellReport judged = JudgeCell(cell, run, bases, inputs.prompts, inputs.base);
    judged.seconds = meter.seconds() - began;
    meter.End(&judged.verdict);
    report.cells.push_back(std::move(judged));
  }
  AttributeDrift(report.cells);
  return {};
}

}  // namespace samebit::verify
