// A linear layer inside a forward pass: prepares the input rows, runs the panels of one worker, and evaluates the
// reduction tree in one piece or rank by rank (tensor parallel in process).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/options.h"
#include "engine/weights.h"
#include "kernels/kernels.h"
#include "kernels/team.h"

namespace samebit::engine {

// Output columns that one worker computes: whole pairs of panels, so that a worker owns whole blocks of 32 columns and
// may go on with them (activation, quantization) without meeting the others.
kernels::Range PanelsOf(const kernels::Worker& worker, uint32_t panels);
// The same in columns.
kernels::Range ColumnsOf(const kernels::Worker& worker, const kernels::PackedMatrix& matrix);

// The rows that go into a layer: as binary32, for float weights, and quantized, for the others. Only the form that the
// weights need has to be filled.
struct LinearInput {
  const float* x = nullptr;  // [m, x_stride], first row included
  size_t x_stride = 0;
  const kernels::QuantizedRows* quantized = nullptr;
  uint32_t first_row = 0;  // of `quantized`
  uint32_t m = 0;
};

enum class Share {
  kColumns,  // ranks own output columns: nothing to add
  kRows,     // ranks own inputs (attention output, feed-forward down): partial sums are added up the tree
};

class LinearRunner {
 public:
  LinearRunner(const kernels::KernelTable& kernels, const EngineOptions& options, uint32_t rows_max,
               uint32_t outputs_max);

  // y [m, y_stride] for this worker's columns (ColumnsOf).
  void Run(const kernels::Worker& worker, const LinearWeights& weights, Share share, const LinearInput& input, float* y,
           size_t y_stride);

 private:
  void RunTree(const kernels::Worker& worker, kernels::LinearCall call, std::span<const arith::Leaf> tree);

  const kernels::KernelTable& kernels_;
  Reduction reduction_;
  uint32_t threads_;  // as asked for: of a team that is disturbed fewer may work, and the control arm must repeat itself
  uint32_t ranks_;
  size_t partial_stride_;
  std::vector<std::vector<float>> partials_;  // [ranks][rows_max * outputs_max], other ranks' parts
};

// Whether `ranks` ranks can share every row-parallel matrix; false names the first layer's matrix that has too few
// units.
Status CheckTensorParallel(const Weights& weights, uint32_t ranks);

}  // namespace samebit::engine
