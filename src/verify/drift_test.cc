#include "verify/drift.h"

#include <gtest/gtest.h>

namespace samebit::verify {
namespace {

CellReport MadeUp(Axis axis, const std::string& value, std::vector<std::string> differs, Verdict verdict) {
  CellReport cell;
  cell.axis = axis;
  cell.value = value;
  cell.differs = std::move(differs);
  cell.verdict = verdict;
  SampleReport sample;
  sample.tokens_found = 8;
  if (verdict == Verdict::kDivergent) {
    sample.first_bit_divergence = 2;
  } else {
    sample.tokens_equal = sample.logprobs_equal = sample.logits_equal = true;
  }
  cell.samples = {sample};
  return cell;
}

CellReport Repeat(Verdict verdict) { return MadeUp(Axis::kConcurrency, "1", {}, verdict); }

TEST(Drift, exact_cells_have_none) {
  std::vector<CellReport> cells = {Repeat(Verdict::kExact)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[0].drift, std::nullopt);
}

TEST(Drift, a_base_that_does_not_repeat_is_run_to_run_and_hides_the_rest) {
  std::vector<CellReport> cells = {Repeat(Verdict::kDivergent),
                                   MadeUp(Axis::kThreads, "1", {"threads"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[0].drift, Drift::kRunToRun);
  EXPECT_EQ(cells[1].drift, Drift::kCannotTell);
  EXPECT_NE(cells[1].drift_reason, "");
}

TEST(Drift, without_a_repeat_nothing_is_certain) {
  std::vector<CellReport> cells = {MadeUp(Axis::kThreads, "1", {"threads"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[0].drift, Drift::kCannotTell);
}

TEST(Drift, one_changed_axis_is_named) {
  std::vector<CellReport> cells = {Repeat(Verdict::kExact),
                                   MadeUp(Axis::kConcurrency, "8", {"concurrency"}, Verdict::kDivergent),
                                   MadeUp(Axis::kIsa, "avx2", {"isa"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[1].drift, Drift::kBatchAndSchedule);
  EXPECT_EQ(cells[2].drift, Drift::kEnvironmentAndVersion);
}

TEST(Drift, what_another_cell_shows_to_be_harmless_is_no_suspect) {
  std::vector<CellReport> cells = {
      Repeat(Verdict::kExact), MadeUp(Axis::kPrefillChunk, "whole", {"prefill_chunk"}, Verdict::kExact),
      MadeUp(Axis::kTensorParallel, "4", {"prefill_chunk", "tensor_parallel"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[2].drift, Drift::kEnvironmentAndVersion);
  EXPECT_NE(cells[2].drift_reason.find("only tensor_parallel"), std::string::npos) << cells[2].drift_reason;
}

TEST(Drift, suspects_of_two_kinds_cannot_be_told_apart) {
  std::vector<CellReport> cells = {
      Repeat(Verdict::kExact),
      MadeUp(Axis::kTensorParallel, "4", {"prefill_chunk", "tensor_parallel"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[1].drift, Drift::kCannotTell);
}

TEST(Drift, a_guilty_axis_is_named_where_it_takes_part) {
  std::vector<CellReport> cells = {Repeat(Verdict::kExact),
                                   MadeUp(Axis::kConcurrency, "8", {"concurrency"}, Verdict::kDivergent),
                                   MadeUp(Axis::kOrder, "reversed", {"concurrency", "order"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[2].drift, Drift::kBatchAndSchedule);
  EXPECT_NE(cells[2].drift_reason.find("bits already move with concurrency"), std::string::npos);
}

TEST(Drift, another_token_from_the_same_logits_is_sampling) {
  CellReport cell = MadeUp(Axis::kConcurrency, "8", {"concurrency"}, Verdict::kDivergent);
  cell.samples[0].first_bit_divergence.reset();
  cell.samples[0].first_token_divergence = 4;
  std::vector<CellReport> cells = {Repeat(Verdict::kExact), cell};
  AttributeDrift(cells);
  EXPECT_EQ(cells[1].drift, Drift::kSampling);
}

TEST(Drift, a_restart_that_differs_is_run_to_run) {
  std::vector<CellReport> cells = {Repeat(Verdict::kExact),
                                   MadeUp(Axis::kProcess, "restarted", {"process"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[1].drift, Drift::kRunToRun);
}

TEST(Drift, a_cell_that_changes_nothing_shows_the_history_and_not_its_axis) {
  std::vector<CellReport> cells = {Repeat(Verdict::kExact), MadeUp(Axis::kStreaming, "whole", {}, Verdict::kDivergent),
                                   MadeUp(Axis::kRepeat, "call 8", {"repeat"}, Verdict::kDivergent)};
  AttributeDrift(cells);
  EXPECT_EQ(cells[1].drift, Drift::kRunToRun);
  EXPECT_EQ(cells[2].drift, Drift::kRunToRun);
}

TEST(Drift, without_log_probabilities_it_is_not_said_that_only_the_draw_differs) {
  CellReport draw = MadeUp(Axis::kConcurrency, "8", {"concurrency"}, Verdict::kDivergent);
  draw.samples[0].first_bit_divergence.reset();
  draw.samples[0].first_token_divergence = 3;
  std::vector<CellReport> seen = {Repeat(Verdict::kExact), draw}, unseen = seen;
  AttributeDrift(seen);
  AttributeDrift(unseen, {.bits_compared = false});
  EXPECT_EQ(seen[1].drift, Drift::kSampling);
  EXPECT_EQ(unseen[1].drift, Drift::kBatchAndSchedule);
}

}  // namespace
}  // namespace samebit::verify
