#include "verify/plan.h"

#include <algorithm>

#include "verify/plan_maker.h"

namespace samebit::verify {

engine::EngineOptions BaseOptions(engine::EngineOptions chosen) {
  chosen.step_rows_max = kWholePrefillRows;
  chosen.prefill_chunk = 1;
  chosen.prefix_cache = false;
  chosen.tensor_parallel = 1;
  chosen.preempt_every_steps = 0;
  chosen.page_tokens = 64;
  chosen.sequences_max = 64;
  return chosen;
}

Result<std::vector<Cell>> OnlyAxes(std::vector<Cell> cells, const std::vector<Axis>& axes) {
  if (axes.empty()) return cells;
  for (const Axis axis : axes)
    if (std::none_of(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.axis == axis; }))
      return Error{ErrorCode::kInvalidArgument, "--axis " + std::string(AxisName(axis)) +
                                                    ": expected an axis that this replay has (streaming and repeat need "
                                                    "--url, process with --url needs --restart-command)"};
  std::erase_if(cells, [&](const Cell& cell) {
    const bool repeat = cell.axis == Axis::kConcurrency && cell.value == "1";
    return !repeat && std::find(axes.begin(), axes.end(), cell.axis) == axes.end();
  });
  return cells;
}

PlanMaker::PlanMaker(const PlanInputs& inputs)
    : inputs_(inputs), chooser_(*inputs.prompts, inputs.context_max, inputs.limit_prompt) {
  seeded_ = chooser_.Choose({.count = inputs.sizes.seeded_prompts, .answer_tokens = inputs.sizes.output_tokens},
                            Order::kAsGiven);
}

Cell& PlanMaker::NewCell(Axis axis, std::string value, std::string description) {
  Cell& cell = cells_.emplace_back();
  cell.axis = axis;
  cell.value = std::move(value);
  cell.description = std::move(description);
  cell.options = inputs_.base;
  return cell;
}

std::vector<CellRequest> PlanMaker::RequestsFor(const std::vector<uint32_t>& prompts, uint32_t tokens) const {
  std::vector<CellRequest> requests;
  for (uint32_t prompt : prompts) {
    requests.push_back({.prompt = prompt, .tokens_max = tokens});
    if (std::binary_search(seeded_.begin(), seeded_.end(), prompt))
      requests.push_back({.prompt = prompt, .sampling = SamplingKind::kSeeded, .tokens_max = tokens});
  }
  return requests;
}

std::vector<CellRequest> PlanMaker::AloneRequests() const {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  std::vector<CellRequest> requests;
  for (uint32_t prompt :
       chooser_.Choose({.count = inputs_.sizes.alone_prompts, .answer_tokens = tokens}, Order::kAsGiven))
    requests.push_back({.prompt = prompt, .tokens_max = tokens});
  if (!seeded_.empty())
    requests.push_back({.prompt = seeded_.front(), .sampling = SamplingKind::kSeeded, .tokens_max = tokens});
  return requests;
}

std::vector<CellRequest> PlanMaker::BatchRequests() const {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  return RequestsFor(chooser_.Choose({.count = inputs_.sizes.batch_prompts, .answer_tokens = tokens}, Order::kAsGiven),
                     tokens);
}

void PlanMaker::Require(Cell& cell, const std::string& why) {
  if (cell.requests.empty() && cell.impossible.empty()) cell.impossible = why;
}

void PlanMaker::PrefillWhole(Cell& cell) {
  cell.options.prefill_chunk = kWholePrefillRows;
  cell.options.step_rows_max = kWholePrefillRows;
}

std::vector<Cell> MakePlan(const PlanInputs& inputs) {
  PlanMaker maker(inputs);
  maker.AddConcurrency();
  maker.AddPromptLength();
  maker.AddOutputLength();
  maker.AddBatchShape();
  maker.AddNeighbours();
  maker.AddPrefillChunk();
  maker.AddPrefixCache();
  maker.AddPreemption();
  maker.AddTensorParallel();
  maker.AddThreads();
  maker.AddIsa();
  maker.AddProcess();
  maker.AddPageTokens();
  maker.AddOrder();
  maker.AddSamples();
  return maker.Take();
}

}  // namespace samebit::verify
