// Runs a plan: base answers first, then every cell. Calling thread only.
#pragma once

#include <vector>

#include "base/result.h"
#include "verify/answerer.h"
#include "verify/cell.h"
#include "verify/prompt.h"
#include "verify/replay.h"
#include "verify/replay_report.h"

namespace samebit::verify {

struct MatrixInputs {
  std::vector<PreparedPrompt> prompts;
  std::vector<Cell> cells;
  engine::EngineOptions base;
};

// Fills bases and cells of `report`. Failures: kCancelled, or the answerer's where a base answer could not be made.
Status RunMatrix(const MatrixInputs& inputs, Answerer& answerer, const ReplayHooks& hooks, ReplayReport& report);

}  // namespace samebit::verify
