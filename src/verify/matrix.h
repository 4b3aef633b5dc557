// Runs a plan: base answers first, then every cell. Calling thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/weights.h"
#include "verify/cell.h"
#include "verify/prompt.h"
#include "verify/replay.h"
#include "verify/replay_report.h"

namespace samebit::verify {

struct MatrixInputs {
  std::shared_ptr<const engine::Weights> weights;
  std::string model_path;
  std::string model_sha256;
  uint64_t process_id = 0;
  std::vector<PreparedPrompt> prompts;
  std::vector<Cell> cells;
  engine::EngineOptions base;
  uint64_t seed = 0;
};

// Fills bases and cells of `report`. Failures: kCancelled, or the engine's where a base answer could not be made.
Status RunMatrix(const MatrixInputs& inputs, const ReplayHooks& hooks, ReplayReport& report);

}  // namespace samebit::verify
