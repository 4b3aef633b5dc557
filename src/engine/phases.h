// Where a step's time goes, for `samebit bench`: the engine says which phase begins, the caller holds the clock (the
// engine reads none). It cannot move a bit: nothing comes back.
#pragma once

#include <cstdint>

namespace samebit::engine {

enum class Phase : uint8_t {
  kSchedule,         // choosing rows and pages, and taking in the last step's tokens
  kEmbed,            // embedding rows, RoPE angles, the first norm
  kNorm,             // norms between matrices, with the quantization of their output
  kQueryKeyValue,    // the three projections
  kRope,             // biases, head norms, RoPE, storing keys and values
  kAttention,        // scores, weighted values, merging of splits
  kAttentionOutput,  // the projection after attention, and adding it to the residual
  kGateUp,           // both matrices, the activation, the quantization of its output
  kDown,             // the matrix and adding it to the residual
  kHead,             // the output matrix
  kSample,           // log-probabilities, digests, sampling
  kOutside,          // not in a step
};
inline constexpr uint32_t kPhaseCount = static_cast<uint32_t>(Phase::kOutside) + 1;

const char* PhaseName(Phase phase);  // "schedule", "embed", ...

// Called on the thread that calls Engine::Step, which is a worker too: a phase lasts until all workers have ended it.
class PhaseObserver {
 public:
  virtual ~PhaseObserver() = default;
  virtual void Begin(Phase phase) = 0;
};

}  // namespace samebit::engine
