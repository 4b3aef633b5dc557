// The engine: requests in, token ids with their log-probabilities and digests out; continuous batching, chunked
// prefill, paged KV cache, prefix cache, preemption. Its bits depend on the request and the weights alone.
//
// One thread drives it: Submit, Cancel and Step are called from that thread; workers are the engine's own. It reads no
// clock, no environment, no random device: a seed comes with the request, time is counted in steps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/options.h"
#include "engine/phases.h"
#include "engine/request.h"
#include "engine/weights.h"
#include "text/tokenizer.h"

namespace samebit::engine {

using RequestId = uint64_t;

// Called during Step for each new token, in order per sample; `text` is what became certain with it, possibly empty.
// For beam search it is called at the end only, and never for a cancelled one.
using TokenSink = std::function<void(uint32_t sample_index, const TokenRecord& token, std::string_view text)>;

// Sums over the engine's life.
struct EngineCounters {
  uint64_t steps = 0;
  uint64_t rows = 0;
  uint64_t preemptions = 0;
  uint64_t cached_tokens = 0;
  uint64_t sequences_in_step_max = 0;
};

class Engine {
 public:
  // `tokenizer` may be null: then no text is made and stop strings are refused. Both must outlive the engine.
  // Failures: kInvalidArgument (an option out of range, named), kCapacity (the budget does not hold one page per layer
  // for a single sequence), kSelfTestFailed is not checked here (kernels/self_test.h).
  static Result<std::unique_ptr<Engine>> Make(std::shared_ptr<const Weights> weights, const text::Tokenizer* tokenizer,
                                              const EngineOptions& options);
  virtual ~Engine() = default;

  // Checks and queues. Failures: kInvalidArgument names the field; kContextOverflow; kCapacity (can never fit the KV
  // budget).
  virtual Result<RequestId> Submit(Request request, TokenSink sink = nullptr) = 0;

  // Ends a request at the next step; what was made so far can be taken, finish reason kCancelled. A beam search gives
  // the answers that had ended, best first, then the beams that had not; all say kCancelled, as none is sure to have won.
  virtual void Cancel(RequestId id) = 0;

  // One forward pass. False: nothing was left to do.
  virtual bool Step() = 0;

  // The answer of a finished request, once; nullopt while it runs. An error (kNumeric) where the model's arithmetic
  // left the finite numbers for this request.
  virtual std::optional<Result<Completion>> Take(RequestId id) = 0;

  virtual const EngineOptions& options() const = 0;
  virtual const EngineCounters& counters() const = 0;
  virtual uint32_t context_max() const = 0;
  virtual uint64_t cache_bytes_used_max() const = 0;  // high-water mark, never over options().cache_bytes
  // Tells `observer` of every phase of the steps to come; null: nobody. It must outlive its use.
  virtual void Observe(PhaseObserver* observer) = 0;
  // Forgets every cached prefix (nothing running may lose its pages).
  virtual void DropPrefixCache() = 0;
};

// Submits one request to an idle engine and steps until it is done.
Result<Completion> Run(Engine& engine, Request request, TokenSink sink = nullptr);

// SHA-256 over all choices' token ids (little-endian u32) and log-probability bits: one digest for a whole answer.
Sha256Digest AnswerDigest(const Completion& completion);

}  // namespace samebit::engine
