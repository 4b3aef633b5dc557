// Answers from engines of this process, and from a second process for the cells that ask for one. Calling thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/weights.h"
#include "verify/answerer.h"
#include "verify/prompt.h"
#include "verify/replay.h"

namespace samebit::verify {

struct EngineAnswererInputs {
  std::shared_ptr<const engine::Weights> weights;
  std::string model_path;
  std::string model_sha256;
  uint64_t process_id = 0;
  engine::EngineOptions base;
  uint64_t seed = 0;
};

class EngineAnswerer final : public Answerer {
 public:
  // `prompts` and `hooks` outlive it.
  EngineAnswerer(EngineAnswererInputs inputs, const std::vector<PreparedPrompt>& prompts, const ReplayHooks& hooks)
      : inputs_(std::move(inputs)), prompts_(prompts), hooks_(hooks) {}

  Result<engine::Completion> BaseAnswer(const BaseKey& key, uint32_t tokens_max, const Watcher& watch) override;
  Result<CellRun> Run(const Cell& cell, const Watcher& watch) override;
  Evidence EvidenceFor(const Cell& cell, const CellRun& run) const override { return EvidenceOf(cell, run, prompts_); }

 private:
  Result<engine::Engine*> BaseEngine(uint32_t chunk);

  const EngineAnswererInputs inputs_;
  const std::vector<PreparedPrompt>& prompts_;
  const ReplayHooks& hooks_;
  std::unique_ptr<engine::Engine> base_engine_;  // kept from base answer to base answer
};

}  // namespace samebit::verify
