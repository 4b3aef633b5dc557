#include "verify/engine_answerer.h"

#include "verify/requests.h"
#include "verify/runner.h"

namespace samebit::verify {

// One request alone in an engine that does nothing else, by the settings of the base.
Result<engine::Completion> EngineAnswerer::BaseAnswer(const BaseKey& key, uint32_t tokens_max, const Watcher& watch) {
  const PreparedPrompt& prompt = prompts_[key.prompt];
  ASSIGN_OR_RETURN(engine::Engine * engine, BaseEngine(prompt.base_chunk));
  engine::Request request = RequestOf(
      {.prompt = key.prompt, .sampling = key.sampling, .tokens_max = tokens_max, .samples = 1}, prompt, inputs_.seed);
  request.first_sample_index = key.sample_index;
  const uint64_t rows_before = engine->counters().rows;
  ASSIGN_OR_RETURN(const engine::RequestId id, engine->Submit(std::move(request)));
  while (true) {
    const bool worked = engine->Step();
    if (!watch(engine->counters().rows - rows_before)) return Error{ErrorCode::kCancelled, "replay was cancelled"};
    if (auto answer = engine->Take(id)) return std::move(*answer);
    if (!worked) return Error{ErrorCode::kInternal, "the engine stopped without an answer"};
  }
}

Result<engine::Engine*> EngineAnswerer::BaseEngine(uint32_t chunk) {
  if (base_engine_ == nullptr || base_engine_->options().prefill_chunk != chunk) {
    base_engine_.reset();  // its KV cache goes before the next one comes
    engine::EngineOptions options = inputs_.base;
    options.prefill_chunk = chunk;
    ASSIGN_OR_RETURN(base_engine_, engine::Engine::Make(inputs_.weights, nullptr, options));
  }
  return base_engine_.get();
}

Result<CellRun> EngineAnswerer::Run(const Cell& cell, const Watcher& watch) {
  base_engine_.reset();  // cells come after the bases, with caches of their own
  if (cell.where != Where::kHere)
    return RunCellInChild(cell, {hooks_.restart, hooks_.copy_model, inputs_.model_path, inputs_.model_sha256,
                                 inputs_.process_id, &prompts_, inputs_.seed});
  return RunCell(cell, {inputs_.weights, &prompts_, inputs_.seed, watch});
}

}  // namespace samebit::verify
