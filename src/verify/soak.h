// The soak: one prompt answered over and over by one engine under a load that changes all the time. One answer must
// come out. Where the replay matrix changes one thing at a time, the soak mixes everything for as long as one likes.
//
// Uses the calling thread and the engine's workers. The load is drawn from a seed and from counts of steps, so that a
// soak can be run again step for step.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace samebit::verify {

struct SoakOptions {
  engine::EngineOptions engine;  // of the engine under load; its reduction may be the control arm
  std::vector<TokenId> prompt;
  std::vector<std::vector<TokenId>> neighbour_prompts;  // not empty; greedy and hot requests are made of them
  uint32_t runs = 1000;
  uint32_t tokens = 1000;       // of each run; stop ids are ignored, so that every run is as long
  uint32_t in_flight_max = 48;  // runs and neighbours together
  uint64_t load_seed = 1;
};

struct SoakDivergence {
  uint32_t run = 0;
  uint32_t position = 0;  // first token, or log-probability bit, or digest, that differs
  float base_margin = 0;  // of the base there
};

struct SoakReport {
  uint32_t runs = 0;
  uint32_t tokens = 0;
  uint32_t distinct_answers = 0;
  std::string answer_digest;                // of the base: ids and log-probability bits
  std::string logits_digest;                // of the base: logits of every position
  std::vector<SoakDivergence> divergences;  // the first 100
  // What the load really was.
  uint64_t steps = 0;
  uint64_t rows = 0;
  uint64_t sequences_in_step_max = 0;
  uint32_t batch_sizes = 0;  // how many different numbers of rows a step had
  uint64_t preemptions = 0;
  uint64_t cached_tokens = 0;
  uint32_t neighbours = 0;
  uint32_t neighbours_cancelled = 0;
  bool load_changed() const {
    return batch_sizes > 1 && sequences_in_step_max > 1 && preemptions > 0 && cached_tokens > 0;
  }
  bool one_answer() const { return runs > 0 && distinct_answers == 1; }
};

// The base answer is made by a second engine, alone and token by token. Failures: those of Engine::Make and Submit;
// kCancelled.
Result<SoakReport> RunSoak(std::shared_ptr<const engine::Weights> weights, const SoakOptions& options,
                           const std::function<void(uint32_t runs_done)>& progress, const std::atomic<bool>* cancelled);

}  // namespace samebit::verify
