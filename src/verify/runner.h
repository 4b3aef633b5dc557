// Runs a cell: makes an engine with the cell's settings from the shared weights, drives it, keeps what happened.
// Calling thread only (the engine has its own workers).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/weights.h"
#include "verify/cell.h"
#include "verify/cell_run.h"
#include "verify/child.h"
#include "verify/prompt.h"

namespace samebit::verify {

struct RunnerWorld {
  std::shared_ptr<const engine::Weights> weights;
  const std::vector<PreparedPrompt>* prompts = nullptr;
  uint64_t seed = 0;
  // Called after each step with the rows that this cell's engine has computed; false: give up.
  std::function<bool(uint64_t rows)> after_step;
};

// A cell whose engine cannot be made or stops has CellRun::failure set. Failure: kCancelled only.
Result<CellRun> RunCell(const Cell& cell, const RunnerWorld& world);

struct ChildWorld {
  RestartRunner restart;                                // null: the cell fails
  std::function<Result<std::string>()> copy_model;      // null: a redeployed cell fails
  std::string model_path;
  std::string model_sha256;
  uint64_t process_id = 0;
  const std::vector<PreparedPrompt>* prompts = nullptr;
  uint64_t seed = 0;
};

// A cell whose answers come from another process. What goes wrong stands in CellRun::failure.
CellRun RunCellInChild(const Cell& cell, const ChildWorld& world);

}  // namespace samebit::verify
