// Which cells a matrix has, for a given model and machine. Pure: the same inputs give the same plan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/options.h"
#include "kernels/isa.h"
#include "verify/cell.h"
#include "verify/prompt.h"

namespace samebit::verify {

// How much work the cells of a plan do. The two plans have the same cells; they differ in these numbers.
struct PlanSizes {
  uint32_t output_tokens;         // of an ordinary answer
  uint32_t alone_prompts;         // prompts of a cell that runs one request at a time
  uint32_t seeded_prompts;        // prompts that are also asked at T = 0.8
  uint32_t repeat_prompts;        // prompts of concurrency 1
  uint32_t batch_prompts;         // prompts of a batch cell other than concurrency, which takes all
  uint32_t scalar_prompts;        // prompts and tokens where the scalar instruction set computes
  uint32_t scalar_output_tokens;
  uint32_t output_128_prompts;
  uint32_t output_1024_prompts;
  uint32_t limit_output_tokens;   // answer to the prompt near the context limit
  uint32_t limit_base_chunk;      // prefill of that prompt's base
  uint32_t context_max;           // longer contexts are cut to this
  std::vector<uint32_t> long_prompt_tokens;  // made prompts, in tokens
};

const PlanSizes& QuickSizes();  // under 4 minutes for a model of 135 million weights on two cores, loading included
const PlanSizes& FullSizes();   // no bound: hours are in order

struct PlanInputs {
  PlanSizes sizes;
  engine::EngineOptions base;                       // the base cell's, alone and token by token
  std::vector<kernels::Isa> isas;                   // available here
  uint32_t cores = 1;
  uint32_t context_max = 0;                         // of the engine
  const std::vector<PreparedPrompt>* prompts = nullptr;
  std::optional<uint32_t> limit_prompt;             // index of the prompt near the context limit, if it could be made
};

// Cells in the order of AllAxes(), in each axis in the order in which people count.
std::vector<Cell> MakePlan(const PlanInputs& inputs);

// The cells of the asked axes (all where none is asked), and always the repeat of the base: without it a difference could
// not be told from run-to-run noise. Failure: kInvalidArgument (an axis that this plan does not have).
Result<std::vector<Cell>> OnlyAxes(std::vector<Cell> cells, const std::vector<Axis>& axes);

// Settings of the base cell from those that the user chose.
engine::EngineOptions BaseOptions(engine::EngineOptions chosen);

// Rows of one pass, enough for "whole" on every prompt but the one near the context limit.
inline constexpr uint32_t kWholePrefillRows = 1024;

}  // namespace samebit::verify
