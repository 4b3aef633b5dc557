// A weight matrix in the layout that kernels read: panels of 16 outputs, so that a vector lane is an output column and
// one output is one sequential chain, as the law says. The layout is the same for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arith/linear.h"
#include "arith/number_formats.h"
#include "base/result.h"

namespace samebit::kernels {

inline constexpr uint32_t kPanelRows = 16;

// Memory of this process, aligned to 64 bytes (huge pages where the system gives them).
struct AlignedFree { void operator()(const std::byte* memory) const; };
using AlignedBytes = std::unique_ptr<std::byte[], AlignedFree>;
AlignedBytes AllocateAligned(size_t bytes);

class PackedMatrix {
 public:
  PackedMatrix() = default;

  // Allocates for [rows, columns]; the bytes are filled by PackPanels. columns: a whole number of stored blocks.
  PackedMatrix(arith::WeightType type, uint32_t rows, uint32_t columns);

  // Fills panels [panel_begin, panel_end) from stored rows. row_order: empty, or [rows], output n is taken from stored
  // row row_order[n] (how interleaved RoPE rows become half-split). Different threads may fill different panels. Not of
  // a view.
  void PackPanels(const void* stored, std::span<const uint32_t> row_order, uint32_t panel_begin, uint32_t panel_end);

  // Panels that were packed before, by PackPanels of the same layout version: bytes() bytes at a multiple of
  // layout::kMatrixAlignmentBytes, with layout::kMatrixSlackBytes after them that may be read. They are not copied and
  // must not change; the matrix keeps `panels` alive.
  static PackedMatrix View(arith::WeightType type, uint32_t rows, uint32_t columns,
                           std::shared_ptr<const std::byte> panels);
  // bytes() of such a matrix. columns: a whole number of stored blocks.
  static uint64_t BytesOf(arith::WeightType type, uint32_t rows, uint32_t columns);

  PackedMatrix(PackedMatrix&&) = default;
  PackedMatrix& operator=(PackedMatrix&&) = default;

  // Row n as binary32 into out [columns]: the law's Dequantize of the stored row. For embeddings.
  void UnpackRow(uint32_t n, float* out) const;

  arith::WeightType type() const { return type_; }
  uint32_t rows() const { return rows_; }
  uint32_t columns() const { return columns_; }
  uint32_t panels() const { return (rows_ + kPanelRows - 1) / kPanelRows; }
  size_t panel_bytes() const { return panel_bytes_; }
  size_t bytes() const { return panel_bytes_ * panels(); }
  const std::byte* panel(uint32_t index) const { return data_.get() + panel_bytes_ * index; }

 private:
  arith::WeightType type_ = arith::WeightType::kF32;
  uint32_t rows_ = 0;
  uint32_t columns_ = 0;
  size_t panel_bytes_ = 0;
  std::shared_ptr<const std::byte> data_;
  std::byte* own_ = nullptr;  // the same bytes, where they may be filled
};

// Activation rows, quantized by rule Q, in the layout that linear kernels read. Owned by the engine, reused per step.
class QuantizedRows {
 public:
  QuantizedRows() = default;
  QuantizedRows(uint32_t rows_max, uint32_t columns_max);

  // Sets the shape of what follows; columns a multiple of 32, both within the maxima. Not while others read or write.
  void Reshape(uint32_t columns);
  // Where row m is written by KernelTable::quantize_row.
  arith::QuantizedRow row(uint32_t m);
  arith::QuantizedRow row(uint32_t m) const;
  uint32_t columns() const { return columns_; }
  size_t code_stride() const { return code_stride_; }  // bytes between rows of codes; not a power of two (cache sets)
  size_t scale_stride() const { return columns_ / 32; }

 private:
  uint32_t columns_ = 0;
  size_t code_stride_ = 0;
  AlignedBytes codes_, scales_, scaled_sums_, half_sums_;
};

}  // namespace samebit::kernels
