// Rows on their way into a group of matrices: as binary32 and, if one of the matrices is quantized, by rule Q.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/forward/linear.h"

namespace samebit::engine {

class Activations {
 public:
  Activations(uint32_t rows_max, uint32_t columns, bool quantize);

  bool quantize() const { return quantize_; }
  float* row(uint32_t m) { return &x_[size_t{m} * columns_]; }
  float* data() { return x_.data(); }
  // Rows first_row .. first_row + m - 1, for a linear layer.
  LinearInput Input(uint32_t m, uint32_t first_row = 0) const;

  // Quantizes columns [begin, end) of a row, whole blocks; does nothing where no matrix wants it. False: NaN or infinity.
  bool Quantize(const kernels::KernelTable& kernels, uint32_t row, uint32_t begin, uint32_t end);

  uint64_t bytes() const { return x_.size() * sizeof(float); }

 private:
  std::vector<float> x_;  // [rows_max, columns]
  kernels::QuantizedRows quantized_;
  uint32_t columns_;
  bool quantize_;
};

// Whether a matrix wants its input quantized.
bool IsQuantized(const LinearWeights& weights);
// Whether any layer's matrix among the given members does.
template <class... Member>
bool AnyQuantized(const Weights& weights, Member... members) {
  for (const LayerWeights& layer : weights.layers)
    if ((IsQuantized(layer.*members) || ...)) return true;
  return false;
}

}  // namespace samebit::engine
