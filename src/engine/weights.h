// A model's weights, packed once and shared by any number of engines: the packed layout is the same for every
// instruction set and every setting. Panels are this process's own memory, or lie in a mapped file (packed_file.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "arith/reduction_tree.h"
#include "base/result.h"
#include "kernels/packed_matrix.h"
#include "model/model.h"

namespace samebit::engine {

// A packed matrix and the tree that the law gives it.
struct LinearWeights {
  kernels::PackedMatrix matrix;
  arith::TreeShape shape;
  std::vector<arith::Leaf> tree;
  bool empty() const { return matrix.rows() == 0; }
};

struct LayerWeights {
  std::vector<float> attention_norm, query_norm, key_norm, attention_post_norm, ffn_norm, ffn_post_norm;
  std::vector<float> query_bias, key_bias, value_bias;
  std::vector<float> attention_output_bias, attention_norm_bias, up_bias, down_bias, ffn_norm_bias;  // encoders
  LinearWeights query, key, value, attention_output, gate, up, down;
  bool local = false;  // has a sliding window
};

struct Weights {
  model::ModelConfig config;
  LinearWeights embedding;  // rows are tokens
  LinearWeights output;     // empty where the embedding is tied
  std::vector<float> output_norm;
  std::vector<LayerWeights> layers;
  std::vector<float> rope_frequencies, rope_frequencies_local;  // [head_size / 2]
  std::vector<float> token_types, positions;                    // encoders: [rows, width]
  std::vector<float> embedding_norm, embedding_norm_bias;       // encoders: [width]
  const LinearWeights& head() const { return output.empty() ? embedding : output; }
  uint64_t bytes() const;  // resident bytes of all packed matrices and vectors
  // The matrix of a role that MatricesOf names; layer 0 for the embedding and the output.
  const LinearWeights& matrix(model::Role role, uint32_t layer) const;
};

// The matrices that a model has, in the order in which they are packed.
struct MatrixRole {
  model::Role role;
  uint32_t layer;
};
std::vector<MatrixRole> MatricesOf(const model::Model& model);

// Packs with `threads` threads. progress(done, total) is called from the calling thread after each matrix; may be null.
// The model's pages are released as it goes. Failures: kNumeric (a NaN or infinite norm or bias), kUnsupported.
Result<std::shared_ptr<const Weights>> PackWeights(
    const model::Model& model, uint32_t threads,
    const std::function<void(uint64_t done, uint64_t total)>& progress = nullptr);

// The same weights with matrices that were packed before: `matrix_of` returns the packed matrix of each of MatricesOf.
// Failures: those of PackWeights.
Result<std::shared_ptr<const Weights>> AssembleWeights(
    const model::Model& model, const std::function<kernels::PackedMatrix(const MatrixRole&)>& matrix_of);

}  // namespace samebit::engine
