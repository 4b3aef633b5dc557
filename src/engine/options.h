// How an engine is set up. None of these settings can move a bit, except `reduction`, which exists so that the tools
// can show what a difference looks like and what its absence costs; everything here is varied by `samebit replay`.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "kernels/kernels.h"

namespace samebit::engine {

// In which order one output's products are added.
enum class Reduction {
  kLaw,      // rule T
  kControl,  // split by batch size and thread count, like an ordinary engine: the arm that a replay matrix must catch.
             // Never reachable from a server.
  kFree,     // in whatever order is fastest: the arm with which `samebit bench` measures what the law costs
};

struct EngineOptions {
  uint32_t threads = 1;                  // workers, the calling thread included; 1..256
  kernels::Isa isa = kernels::Isa::kScalar;  // among kernels::AvailableIsas()
  kernels::CacheType cache_type = kernels::CacheType::kF16;
  uint32_t page_tokens = 64;             // tokens of a KV page: 16, 32, 64, 128 or 256
  uint64_t cache_bytes = 256ull << 20;   // KV budget; never exceeded
  uint32_t context_max = 0;              // tokens of prompt and answer; 0: the model's context
  uint32_t step_rows_max = 256;          // rows (tokens) of one forward pass
  uint32_t prefill_chunk = 256;          // rows of one prompt in one pass; 1: token by token
  // Prompt rows of all prompts together in a pass that also decodes: answers that are being written wait for no more.
  // Fewer make the time between two tokens even, more leave more throughput; docs/design/0017 has the figures.
  uint32_t prefill_beside_decodes = 64;
  uint32_t sequences_max = 64;           // sequences that run at once
  bool prefix_cache = true;
  uint32_t tensor_parallel = 1;          // ranks of the reduction tree computed in this process: 1, 2, 4 or 8
  uint32_t preempt_every_steps = 0;      // > 0: the newest running sequence is preempted every so many steps
  Reduction reduction = Reduction::kLaw;
  int (*current_cpu)() = nullptr;  // which core the calling thread runs on (kernels::Team); null: workers that share a
                                   // core with each other go on as if each had its own
};

}  // namespace samebit::engine
