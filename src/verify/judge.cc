#include "verify/judge.h"

#include <algorithm>

#include "verify/compare.h"

namespace samebit::verify {
namespace {

const engine::Choice* ChoiceOf(const engine::Completion& completion, uint32_t sample_index) {
  for (const engine::Choice& choice : completion.choices)
    if (choice.sample_index == sample_index) return &choice;
  return nullptr;
}

// How much of the base answer is compared. Tokens are counted; where answers are known as text only, a longer base is
// compared as far as the shorter answer reaches, and equally long ones whole.
uint32_t UnitsAsked(const CellRequest& request, const RequestRun& run, uint32_t base_tokens_asked, uint32_t index) {
  if (!run.is_text) return request.tokens_max;
  const engine::Choice* found = ChoiceOf(*run.completion, index);
  if (found == nullptr || base_tokens_asked <= request.tokens_max) return UINT32_MAX;
  return found->finish_reason == engine::FinishReason::kLength ? static_cast<uint32_t>(found->tokens.size()) : UINT32_MAX;
}

void CompareRequest(const CellRequest& request, const RequestRun& run, const BaseAnswers& bases,
                    const PreparedPrompt& prompt, CellReport& report) {
  for (uint32_t index = 0; index < request.samples; ++index) {
    const BaseKey key = {request.prompt, request.sampling, index};
    const engine::Choice* base = bases.Find(key);
    SampleReport sample;
    if (base != nullptr && run.completion)
      sample = CompareWithBase(*base, UnitsAsked(request, run, bases.TokensAsked(key), index),
                               ChoiceOf(*run.completion, index));
    else
      sample.error = run.completion ? "no base answer" : run.error.empty() ? "no answer" : run.error;
    sample.prompt_id = prompt.id;
    sample.sampling = request.sampling;
    sample.sample_index = index;
    sample.prompt_tokens = run.completion ? run.completion->prompt_tokens : prompt.token_count();
    sample.tokens_asked = request.tokens_max;
    report.samples.push_back(std::move(sample));
  }
}

}  // namespace

CellReport JudgeCell(const Cell& cell, const CellRun& run, const Evidence& evidence, const BaseAnswers& bases,
                     const std::vector<PreparedPrompt>& prompts, const engine::EngineOptions& base) {
  CellReport report;
  report.axis = cell.axis;
  report.value = cell.value;
  report.description = cell.description;
  report.options = run.options;
  report.differs = DifferencesFromBase(cell, base);
  for (size_t i = 0; i < run.requests.size() && i < cell.requests.size(); ++i)
    CompareRequest(cell.requests[i], run.requests[i], bases, prompts[cell.requests[i].prompt], report);

  report.evidence = evidence.text;
  const auto unanswered = [](const SampleReport& sample) { return !sample.error.empty(); };
  const bool diverged = std::any_of(report.samples.begin(), report.samples.end(), [&](const SampleReport& sample) {
    return !unanswered(sample) && !sample.exact();
  });
  if (diverged) {
    report.verdict = Verdict::kDivergent;
    if (!evidence.shown) report.evidence += (evidence.text.empty() ? "" : "; ") + evidence.missing;
  } else if (!evidence.shown) {
    report.verdict = Verdict::kNotMeasured;
    report.not_measured_reason = evidence.missing;
  } else if (std::any_of(report.samples.begin(), report.samples.end(), unanswered) || report.samples.empty()) {
    report.verdict = Verdict::kNotMeasured;
    report.not_measured_reason = report.samples.empty() ? "no sample" : "a sample was not answered";
  } else {
    report.verdict = Verdict::kExact;
  }
  return report;
}

}  // namespace samebit::verify
