// Builds the cells of a plan, axis by axis. Internal to plan*.cc.
#pragma once

#include <string>
#include <vector>

#include "verify/plan.h"
#include "verify/prompt_chooser.h"

namespace samebit::verify {

class PlanMaker {
 public:
  explicit PlanMaker(const PlanInputs& inputs);

  // plan_load.cc: what clients do.
  void AddConcurrency();
  void AddPromptLength();
  void AddOutputLength();
  void AddBatchShape();
  void AddNeighbours();
  void AddOrder();
  void AddSamples();
  // plan_engine.cc: what a server is set to.
  void AddPrefillChunk();
  void AddPrefixCache();
  void AddPreemption();
  void AddTensorParallel();
  void AddThreads();
  void AddIsa();
  void AddProcess();
  void AddPageTokens();

  std::vector<Cell> Take() { return std::move(cells_); }

 private:
  using Wish = PromptChooser::Wish;
  using Order = PromptChooser::Order;

  // A cell like the base: one request at a time, token by token. Appended to the plan; valid until the next call.
  Cell& NewCell(Axis axis, std::string value, std::string description);
  // Requests for `prompts`: each greedy, and those of the seeded prompts also at T = 0.8.
  std::vector<CellRequest> RequestsFor(const std::vector<uint32_t>& prompts, uint32_t tokens) const;
  // The first prompts of the set, greedy, the first one seeded too: for cells that run one request at a time.
  std::vector<CellRequest> AloneRequests() const;
  std::vector<CellRequest> BatchRequests() const;
  // Marks the cell impossible where it has no requests.
  static void Require(Cell& cell, const std::string& why);
  static void PrefillWhole(Cell& cell);

  const PlanInputs& inputs_;
  PromptChooser chooser_;
  std::vector<uint32_t> seeded_;  // ascending
  std::vector<Cell> cells_;
};

}  // namespace samebit::verify
