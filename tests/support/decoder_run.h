// The engine's forward pass driven by hand: raw logits of every position of one sequence.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "engine/options.h"
#include "engine/weights.h"

namespace samebit::test {

// Logits after every token, [tokens, vocabulary]. options.prefill_chunk rows per pass. The cache's pages lie in reverse
// order and start full of NaNs: what was in memory before must not show.
std::vector<float> DecoderLogits(const engine::Weights& weights, std::span<const TokenId> tokens, engine::EngineOptions options);

// The tokens that follow by taking the largest logit, computed from scratch with f32 logits.
std::vector<TokenId> DecoderGreedy(const engine::Weights& weights, std::vector<TokenId> tokens, uint32_t count,
                                   const engine::EngineOptions& options);

}  // namespace samebit::test
