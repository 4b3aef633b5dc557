// A cell's verdict from what happened. Pure.
#pragma once

#include <vector>

#include "verify/base_answers.h"
#include "verify/cell.h"
#include "verify/cell_run.h"
#include "verify/evidence.h"
#include "verify/prompt.h"
#include "verify/replay_report.h"

namespace samebit::verify {

// Compares with the bases, then weighs the evidence. A difference that was found
// counts even where the evidence is thin; without one, only a cell that showed its axis is exact.
CellReport JudgeCell(const Cell& cell, const CellRun& run, const Evidence& evidence, const BaseAnswers& bases,
                     const std::vector<PreparedPrompt>& prompts, const engine::EngineOptions& base);

}  // namespace samebit::verify
