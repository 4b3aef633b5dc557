#include "engine/forward/activations.h"

namespace samebit::engine {

Activations::Activations(uint32_t rows_max, uint32_t columns, bool quantize)
    : x_(size_t{rows_max} * columns), columns_(columns), quantize_(quantize) {
  if (!quantize) return;
  quantized_ = kernels::QuantizedRows(rows_max, columns);
  quantized_.Reshape(columns);
}

LinearInput Activations::Input(uint32_t m, uint32_t first_row) const {
  return {&x_[size_t{first_row} * columns_], columns_, &quantized_, first_row, m};
}

bool Activations::Quantize(const kernels::KernelTable& kernels, uint32_t row, uint32_t begin, uint32_t end) {
  if (!quantize_) return true;
  arith::QuantizedRow out = quantized_.row(row);
  out.codes += begin;
  out.scales += begin / arith::kActivationBlock;
  out.scaled_sums += begin / arith::kActivationBlock;
  out.half_sums += begin / 16;
  return kernels.quantize_row(this->row(row) + begin, end - begin, out);
}

bool IsQuantized(const LinearWeights& weights) {
  return !weights.empty() && arith::Format(weights.matrix.type()).quantized;
}

}  // namespace samebit::engine
