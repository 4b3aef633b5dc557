#include "verify/progress_meter.h"

#include <algorithm>

namespace samebit::verify {

ProgressMeter::ProgressMeter(const ReplayHooks& hooks, uint32_t cell_count, uint64_t tokens_total)
    : hooks_(hooks), started_ns_(hooks.clock->monotonic_ns()), cell_count_(cell_count), tokens_total_(tokens_total) {}

void ProgressMeter::Begin(std::string what, uint32_t cell_index, uint64_t tokens) {
  what_ = std::move(what);
  cell_index_ = cell_index;
  tokens_of_current_ = tokens;
  Report(tokens_before_, nullptr);
}

bool ProgressMeter::Step(uint64_t rows) {
  Report(tokens_before_ + std::min(rows, tokens_of_current_), nullptr);
  return !cancelled();
}

void ProgressMeter::End(const Verdict* verdict) {
  tokens_before_ += tokens_of_current_;
  tokens_of_current_ = 0;
  Report(tokens_before_, verdict);
}

double ProgressMeter::seconds() const {
  return static_cast<double>(hooks_.clock->monotonic_ns() - started_ns_) * 1e-9;
}

void ProgressMeter::Report(uint64_t tokens_done, const Verdict* verdict) const {
  if (!hooks_.progress) return;
  ReplayProgress progress;
  progress.what = what_;
  progress.cell_index = cell_index_;
  progress.cell_count = cell_count_;
  progress.tokens_done = tokens_done;
  progress.tokens_total = tokens_total_;
  progress.seconds = seconds();
  progress.cell_finished = verdict != nullptr;
  if (verdict != nullptr) progress.verdict = *verdict;
  hooks_.progress(progress);
}

}  // namespace samebit::verify
