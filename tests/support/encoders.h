// The sentence encoders of tests/data/encoders and the vectors that they must give, and a whole forward pass in plain
// loops straight from arith.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "engine/embedder.h"
#include "model/model.h"

namespace samebit::test {

// Ends the test program with the error where that fails.
std::unique_ptr<model::Model> OpenTinyBert();

struct ExpectedVectors {
  uint32_t width = 0;
  std::vector<std::vector<TokenId>> texts;
  std::vector<std::string> sentences;             // minilm: the same texts in letters
  std::vector<std::vector<uint32_t>> orders;      // minilm: sentence a is nearer to b than to c
  std::vector<float> vectors;                     // [texts, poolings, width]; tiny: mean, cls, last; minilm: mean only
  std::span<const float> Vector(size_t text, size_t pooling, size_t poolings) const {
    return std::span(vectors).subspan((text * poolings + pooling) * width, width);
  }
};
ExpectedVectors ReadExpectedVectors(const std::string& name);

// The rows of a text, [tokens, width]: what the law says. Slow, for tiny models.
std::vector<float> ReferenceEncoder(const model::Model& model, std::span<const TokenId> tokens);

// All texts at once; ends the test program where a text fails.
std::vector<std::vector<float>> Vectors(std::shared_ptr<const engine::Weights> weights,
                                        const engine::EngineOptions& options,
                                        const std::vector<engine::EmbedRequest>& requests);

}  // namespace samebit::test
