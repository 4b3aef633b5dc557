// The whole forward pass in plain scalar loops straight from arith: no packing, no kernels, no batch, no pages, no
// threads. What it gives is what the law says; the engine's logits must equal it bit for bit. Slow, for tiny models.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "kernels/kernels.h"
#include "model/model.h"

namespace samebit::test {

// Logits after every token, [tokens, vocabulary].
std::vector<float> ReferenceForward(const model::Model& model, std::span<const TokenId> tokens,
                                    kernels::CacheType cache_type);

}  // namespace samebit::test
