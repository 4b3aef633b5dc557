// The engine's forward pass driven by hand: raw logits of every position of one sequence.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/types.h"
#include "engine/options.h"
#include "engine/weights.h"

namespace samebit::test {

// Called once per position, from any worker, for different positions at once. logits: [vocabulary].
using PositionVisitor = std::function<void(Position position, const float* logits)>;

// Visits the logits after every token; options.prefill_chunk rows per pass. The cache's pages lie in reverse order and
// start full of NaNs: what was in memory before must not show.
void VisitDecoderLogits(const engine::Weights& weights, std::span<const TokenId> tokens, engine::EngineOptions options,
                        const PositionVisitor& visit);

// The same as one array, [tokens, vocabulary].
std::vector<float> DecoderLogits(const engine::Weights& weights, std::span<const TokenId> tokens,
                                 const engine::EngineOptions& options);

// The tokens that follow by taking the largest logit, all computed from scratch for each.
std::vector<TokenId> DecoderGreedy(const engine::Weights& weights, std::vector<TokenId> tokens, uint32_t count,
                                   const engine::EngineOptions& options);

}  // namespace samebit::test
