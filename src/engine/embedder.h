// Texts as token ids in, one vector each out; a bounded step at a time, so that whoever drives it can do other work
// between two steps. A text's bits depend on its tokens, the pooling and the weights alone: not on the texts beside it,
// their order, the threads or the instruction set.
//
// An encoder reads whole texts; a decoder reads them as a prompt and its rows behind the last norm are pooled. One thread
// drives it; workers are the embedder's own. It reads no clock, no environment, no random device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/pooling.h"
#include "base/result.h"
#include "base/types.h"
#include "engine/options.h"
#include "engine/weights.h"

namespace samebit::engine {

struct EmbedRequest {
  std::vector<TokenId> tokens;
  Pooling pooling = Pooling::kMean;  // a decoder has no kFirst: its first row has seen one token
  bool normalize = true;             // to length 1
};

using EmbedId = uint64_t;

class Embedder {
 public:
  // Failures: kInvalidArgument (an option out of range, named), kCapacity (the KV budget does not hold one page).
  static Result<std::unique_ptr<Embedder>> Make(std::shared_ptr<const Weights> weights, const EngineOptions& options);
  virtual ~Embedder() = default;

  // Checks and queues. Failures: kInvalidArgument (no tokens, an id outside the vocabulary, a pooling that the model
  // does not have), kContextOverflow (names the limit; a text is never cut).
  Result<EmbedId> Submit(EmbedRequest request);
  // Ends a text before the next step; there is nothing to take.
  virtual void Cancel(EmbedId id) = 0;
  // One forward pass. False: nothing was left to do.
  virtual bool Step() = 0;
  // The vector [width] of a finished text, once; nullopt while it is worked on. kNumeric where the model's arithmetic
  // left the finite numbers for this text.
  virtual std::optional<Result<std::vector<float>>> Take(EmbedId id) = 0;

  uint32_t width() const { return weights_->config.width; }
  uint32_t tokens_max() const { return tokens_max_; }  // of one text
  bool has_pooling(Pooling pooling) const;

 protected:
  Embedder(std::shared_ptr<const Weights> weights, uint32_t tokens_max)
      : weights_(std::move(weights)), tokens_max_(tokens_max) {}
  virtual void Queue(EmbedId id, EmbedRequest request) = 0;

  const std::shared_ptr<const Weights> weights_;

 private:
  const uint32_t tokens_max_;
  EmbedId next_id_ = 1;
};

// What the checkpoint says, or else: the mean, at length 1.
Pooling PoolingOf(const model::ModelConfig& config);
bool NormalizesVectors(const model::ModelConfig& config);

// Submits texts to an idle embedder and steps until they are done. The first failure of any.
Result<std::vector<std::vector<float>>> Embed(Embedder& embedder, std::vector<EmbedRequest> requests);

}  // namespace samebit::engine
