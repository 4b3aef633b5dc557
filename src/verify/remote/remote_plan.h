// Which cells a matrix has when all that can be moved is what a client can move. Pure.
#pragma once

#include <vector>

#include "verify/cell.h"
#include "verify/plan.h"
#include "verify/prompt.h"

namespace samebit::verify {

struct RemotePlanInputs {
  PlanSizes sizes = {};
  bool seeds = true;       // the server takes them; else sampled answers are not measured
  bool restarts = false;   // a command to restart the server was given
  uint32_t in_flight_max = 32;
  const std::vector<PreparedPrompt>* prompts = nullptr;
};

// Cells in the order of AllAxes().
std::vector<Cell> MakeRemotePlan(const RemotePlanInputs& inputs);

// The written prompts and some long ones, for a server whose tokenizer is not known: lengths are estimates.
std::vector<PreparedPrompt> RemotePrompts(const std::vector<Prompt>& written, const PlanSizes& sizes);

inline constexpr uint32_t kRemoteLongTokensMin = 128;  // by the server's own count

}  // namespace samebit::verify
