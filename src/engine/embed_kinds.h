// The two kinds of embedders, and how rows become a vector; between embedder.cc and their files.
#pragma once

#include <map>

#include "engine/embedder.h"

namespace samebit::engine {

Result<std::unique_ptr<Embedder>> MakeEmbedderOfEncoder(std::shared_ptr<const Weights> weights,
                                                        const EngineOptions& options);
Result<std::unique_ptr<Embedder>> MakeEmbedderOfDecoder(std::shared_ptr<const Weights> weights,
                                                        const EngineOptions& options);

// One text's vector, from its rows in ascending order (rule V).
class VectorOfRows {
 public:
  VectorOfRows(Pooling pooling, uint32_t width);
  void Add(const float* row);
  // kNumeric where a row failed or the vector's length is not finite.
  Result<std::vector<float>> Finish(bool normalize, bool failed);

 private:
  Pooling pooling_;
  uint32_t count_ = 0;
  std::vector<double> sums_;   // kMean
  std::vector<float> vector_;  // the others: the row
};

// Finished vectors that nobody has taken yet.
class FinishedVectors {
 public:
  void Put(EmbedId id, Result<std::vector<float>> vector) { vectors_.emplace(id, std::move(vector)); }
  std::optional<Result<std::vector<float>>> Take(EmbedId id);
  void Drop(EmbedId id) { vectors_.erase(id); }

 private:
  std::map<EmbedId, Result<std::vector<float>>> vectors_;
};

}  // namespace samebit::engine
