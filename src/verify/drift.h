// Which of the four kinds of drift a divergent cell shows, by elimination over the whole matrix. Pure.
#pragma once

#include <vector>

#include "verify/replay_report.h"

namespace samebit::verify {

// Fills `drift` and `drift_reason` of every divergent cell.
//
//   the logits have the same bits, another token was drawn      -> sampling
//   the base cell, run once more unchanged, differs as well     -> run to run; then nothing else can be told
//   a restarted process with equal settings differs             -> run to run
//   what is left of the cell's differences after those that some cell shows alone to be harmless:
//     all of the schedule (batch, chunks, cache, pages ...)     -> batch and schedule
//     all of the environment (threads, kernels, ranks, copy)    -> environment and version
//     of both                                                   -> cannot tell
struct DriftOptions {
  bool bits_compared = true;  // false: answers without log-probabilities, which cannot show that only the draw differs
};
void AttributeDrift(std::vector<CellReport>& cells, const DriftOptions& options = {});

}  // namespace samebit::verify
