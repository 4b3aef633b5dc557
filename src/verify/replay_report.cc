#include "verify/replay_report.h"

#include <algorithm>
#include <ctime>

#include "base/check.h"

namespace samebit::verify {

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kExact:
      return "exact";
    case Verdict::kDivergent:
      return "divergent";
    case Verdict::kNotMeasured:
      return "not_measured";
  }
  CHECK(false && "a verdict without a name");
}

const char* DriftName(Drift drift) {
  switch (drift) {
    case Drift::kSampling:
      return "sampling";
    case Drift::kRunToRun:
      return "run_to_run";
    case Drift::kBatchAndSchedule:
      return "batch_and_schedule";
    case Drift::kEnvironmentAndVersion:
      return "environment_and_version";
    case Drift::kCannotTell:
      return "cannot_tell";
  }
  CHECK(false && "a drift without a name");
}

const char* SamplingKindName(SamplingKind kind) { return kind == SamplingKind::kGreedy ? "greedy" : "seeded"; }

uint32_t CellReport::exact_count() const {
  return static_cast<uint32_t>(
      std::count_if(samples.begin(), samples.end(), [](const SampleReport& sample) { return sample.exact(); }));
}

uint32_t CellReport::logprobs_equal_count() const {
  return static_cast<uint32_t>(
      std::count_if(samples.begin(), samples.end(), [](const SampleReport& sample) { return sample.logprobs_equal; }));
}

std::optional<uint32_t> CellReport::first_divergence() const {
  std::optional<uint32_t> tokens, bits;
  for (const SampleReport& sample : samples) {
    if (sample.first_token_divergence) tokens = std::min(tokens.value_or(UINT32_MAX), *sample.first_token_divergence);
    if (sample.first_bit_divergence) bits = std::min(bits.value_or(UINT32_MAX), *sample.first_bit_divergence);
  }
  return tokens ? tokens : bits;
}

uint32_t ReplayReport::count(Verdict verdict) const {
  return static_cast<uint32_t>(
      std::count_if(cells.begin(), cells.end(), [&](const CellReport& cell) { return cell.verdict == verdict; }));
}

uint64_t ReplayReport::sample_count() const {
  uint64_t samples = 0;
  for (const CellReport& cell : cells) samples += cell.samples.size();
  return samples;
}

bool ReplayReport::holds() const { return !cells.empty() && count(Verdict::kExact) == cells.size(); }

std::vector<Axis> ReplayReport::axes_with(Verdict verdict) const {
  std::vector<Axis> axes;
  for (Axis axis : AllAxes())
    if (std::any_of(cells.begin(), cells.end(),
                    [&](const CellReport& cell) { return cell.axis == axis && cell.verdict == verdict; }))
      axes.push_back(axis);
  return axes;
}

int ExitCode(const ReplayReport& report) {
  if (report.count(Verdict::kDivergent) > 0) return 1;
  if (report.control) return 3;
  return report.holds() ? 0 : 3;
}

namespace {

std::string Joined(const std::vector<Axis>& axes) {
  std::string text;
  for (Axis axis : axes) text += (text.empty() ? "" : ", ") + std::string(AxisName(axis));
  return text;
}

// Axes that some divergent cell changes alone: there the blame is certain, unless a cell of the same axis that changes
// nothing diverges as well.
std::vector<Axis> CaughtAlone(const ReplayReport& report) {
  std::vector<Axis> axes;
  const auto diverges_unchanged = [&](Axis axis) {
    return std::any_of(report.cells.begin(), report.cells.end(), [&](const CellReport& cell) {
      return cell.axis == axis && cell.verdict == Verdict::kDivergent && cell.differs.empty();
    });
  };
  for (Axis axis : report.caught())
    if (!diverges_unchanged(axis) && std::any_of(report.cells.begin(), report.cells.end(), [&](const CellReport& cell) {
          return cell.verdict == Verdict::kDivergent && cell.differs == std::vector<std::string>{AxisName(axis)};
        }))
      axes.push_back(axis);
  return axes;
}

std::string WhatWasEqual(const ReplayReport& report) {
  if (!report.remote) return "the same tokens, log-probabilities and logits, bit for bit";
  const std::string& identity = report.remote->identity;
  const std::string what = identity == "token_ids"     ? "the same token ids"
                           : identity == "token_bytes" ? "the same bytes of every token"
                                                       : "the same text (the server tells no tokens)";
  return what + (report.remote->logprobs_compared ? " and log-probabilities, bit for bit"
                                                  : "; log-probabilities were not compared");
}

}  // namespace

std::string VerdictSentence(const ReplayReport& report) {
  const std::string of_cells = " of " + std::to_string(report.cells.size()) + " cells";
  const uint32_t divergent = report.count(Verdict::kDivergent);
  const uint32_t unmeasured = report.count(Verdict::kNotMeasured);
  if (divergent > 0) {
    const std::vector<Axis> alone = CaughtAlone(report);
    std::string text = report.control ? "CAUGHT, as it must be: " : "DOES NOT HOLD: ";
    text += std::to_string(divergent) + of_cells + " diverge from the base";
    text += alone.empty() ? ", on the axes " + Joined(report.caught()) + "."
                          : "; these axes do it alone: " + Joined(alone) + ".";
    if (report.control) text += " The control arm adds in an order that depends on batch and threads.";
    return text;
  }
  if (report.control)
    return "THE CHECK FAILED TO CATCH the control arm: it adds in an order that depends on batch and threads, and no "
           "cell "
           "diverged. This matrix could not have found a real difference either.";
  if (report.cells.empty()) return "NOT MEASURED: no cell was run.";
  if (unmeasured > 0)
    return "NOT MEASURED: " + std::to_string(unmeasured) + of_cells + " did not exercise their axis (" +
           Joined(report.axes_with(Verdict::kNotMeasured)) + "), so the matrix does not pass.";
  return "EXACT: all " + std::to_string(report.cells.size()) + " cells, " + std::to_string(report.sample_count()) +
         " samples: " + WhatWasEqual(report) + ".";
}

std::string UtcText(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

}  // namespace samebit::verify
