#include "verify/drift.h"

#include <algorithm>
#include <string>

namespace samebit::verify {
namespace {

bool IsEnvironment(Axis axis) {
  return axis == Axis::kTensorParallel || axis == Axis::kThreads || axis == Axis::kIsa || axis == Axis::kProcess;
}

bool IsRepeatOfBase(const CellReport& cell) { return cell.axis == Axis::kConcurrency && cell.value == "1"; }

// A cell that differs from the base in `axis` alone.
bool Isolates(const CellReport& cell, Axis axis) {
  return cell.differs.size() == 1 && cell.differs.front() == AxisName(axis);
}

enum class Standing { kUnknown, kHarmless, kGuilty };

Standing StandingOf(Axis axis, const std::vector<CellReport>& cells) {
  Standing standing = Standing::kUnknown;
  for (const CellReport& cell : cells) {
    if (!Isolates(cell, axis)) continue;
    if (cell.verdict == Verdict::kDivergent) return Standing::kGuilty;
    if (cell.verdict == Verdict::kExact) standing = Standing::kHarmless;
  }
  return standing;
}

// Every sample that differs drew another token from logits with the same bits.
bool OnlySamplerDiffers(const CellReport& cell) {
  bool any = false;
  for (const SampleReport& sample : cell.samples) {
    if (sample.exact()) continue;
    if (sample.tokens_found == 0 || sample.first_bit_divergence || !sample.first_token_divergence) return false;
    any = true;
  }
  return any;
}

std::string Joined(const std::vector<Axis>& axes) {
  std::string text;
  for (Axis axis : axes) text += (text.empty() ? "" : ", ") + std::string(AxisName(axis));
  return text;
}

void Attribute(CellReport& cell, const CellReport* repeat, const std::vector<CellReport>& cells,
               const DriftOptions& options) {
  const auto set = [&](Drift drift, std::string reason) {
    cell.drift = drift;
    cell.drift_reason = std::move(reason);
  };
  if (options.bits_compared && OnlySamplerDiffers(cell))
    return set(Drift::kSampling, "the logits have the same bits up to the first different token: the draw differs");
  if (IsRepeatOfBase(cell)) return set(Drift::kRunToRun, "nothing was changed: the base does not repeat itself");
  const bool could_be_unchanged = cell.axis == Axis::kStreaming || cell.axis == Axis::kSamples;
  if (could_be_unchanged && cell.differs.empty())
    return set(Drift::kRunToRun, "nothing was changed: what was done before it is all that differs");
  if (cell.axis == Axis::kRepeat) return set(Drift::kRunToRun, "nothing was changed: it was asked before, that is all");
  if (repeat != nullptr && repeat->verdict == Verdict::kDivergent)
    return set(Drift::kCannotTell, "the base does not repeat itself, so no other difference can be told from that");
  if (repeat == nullptr || repeat->verdict == Verdict::kNotMeasured)
    return set(Drift::kCannotTell, "the base was not repeated, so run-to-run differences cannot be excluded");
  if (cell.axis == Axis::kProcess && (cell.value == "restarted" || cell.value == "same"))
    return set(Drift::kRunToRun, cell.value == "same" ? "the same settings in an engine with a history"
                                                      : "the same settings in a freshly started process");

  std::vector<Axis> suspects, guilty;
  for (Axis axis : AllAxes()) {
    const bool own = axis == cell.axis;
    const bool differs = std::find(cell.differs.begin(), cell.differs.end(), AxisName(axis)) != cell.differs.end();
    if (!own && !differs) continue;
    const Standing standing = StandingOf(axis, cells);
    if (!own && standing == Standing::kHarmless) continue;
    if (!own && standing == Standing::kGuilty) guilty.push_back(axis);
    suspects.push_back(axis);
  }
  const bool environment = std::any_of(suspects.begin(), suspects.end(), IsEnvironment);
  const bool schedule = !std::all_of(suspects.begin(), suspects.end(), IsEnvironment);
  if (environment && schedule)
    return set(Drift::kCannotTell, "could be any of " + Joined(suspects) + ", which are of two kinds");
  const std::string reason = !guilty.empty() ? "bits already move with " + Joined(guilty) + "; whether " +
                                                   AxisName(cell.axis) + " adds to it cannot be told"
                             : suspects.size() == 1 ? "of what was changed, only " + Joined(suspects) + " is left"
                                                    : "one of " + Joined(suspects);
  set(environment ? Drift::kEnvironmentAndVersion : Drift::kBatchAndSchedule, reason);
}

}  // namespace

void AttributeDrift(std::vector<CellReport>& cells, const DriftOptions& options) {
  const auto repeat = std::find_if(cells.begin(), cells.end(), IsRepeatOfBase);
  for (CellReport& cell : cells)
    if (cell.verdict == Verdict::kDivergent)
      Attribute(cell, repeat == cells.end() ? nullptr : &*repeat, cells, options);
}

}  // namespace samebit::verify
