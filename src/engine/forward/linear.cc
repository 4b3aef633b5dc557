#include "engine/forward/linear.h"

#include <algorithm>
#include <string>

#include "kernels/control_kernels.h"

namespace samebit::engine {

using kernels::Range;

Range PanelsOf(const kernels::Worker& worker, uint32_t panels) {
  const Range pairs = worker.Part((panels + 1) / 2);
  return {std::min(2 * pairs.begin, panels), std::min(2 * pairs.end, panels)};
}

Range ColumnsOf(const kernels::Worker& worker, const kernels::PackedMatrix& matrix) {
  const Range panels = PanelsOf(worker, matrix.panels());
  return {std::min(panels.begin * kernels::kPanelRows, matrix.rows()),
          std::min(panels.end * kernels::kPanelRows, matrix.rows())};
}

LinearRunner::LinearRunner(const kernels::KernelTable& kernels, const EngineOptions& options, uint32_t rows_max,
                           uint32_t outputs_max)
    : kernels_(kernels), reduction_(options.reduction), threads_(options.threads), ranks_(options.tensor_parallel), partial_stride_(outputs_max) {
  if (ranks_ > 1) partials_.assign(ranks_, std::vector<float>(size_t{rows_max} * outputs_max));
}

void LinearRunner::RunTree(const kernels::Worker& worker, kernels::LinearCall call, std::span<const arith::Leaf> tree) {
  call.tree = tree;
  const Range panels = PanelsOf(worker, call.weights->panels());
  if (panels.empty()) return;
  switch (reduction_) {
    case Reduction::kLaw:
      return kernels_.linear(call, panels.begin, panels.end);
    case Reduction::kControl:
      return kernels::ControlLinear(kernels_, call, threads_, panels.begin, panels.end);
    case Reduction::kFree:
      return kernels_.linear_free(call, panels.begin, panels.end);
  }
}

void LinearRunner::Run(const kernels::Worker& worker, const LinearWeights& weights, Share share,
                       const LinearInput& input, float* y, size_t y_stride) {
  kernels::LinearCall call;
  call.weights = &weights.matrix;
  call.m = input.m;
  call.x = input.x;
  call.x_stride = input.x_stride;
  call.quantized = input.quantized;
  call.quantized_row = input.first_row;
  call.y = y;
  call.y_stride = y_stride;
  if (share == Share::kColumns || ranks_ == 1) {
    RunTree(worker, call, weights.tree);
    return;
  }
  const Range columns = ColumnsOf(worker, weights.matrix);
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    call.y = partials_[rank].data();
    call.y_stride = partial_stride_;
    RunTree(worker, call, arith::MakeTreeOfRank(weights.shape, ranks_, rank));
  }
  // Up the tree: neighbours at distance 1, 2, 4 are added left + right.
  for (uint32_t i = 0; i < input.m; ++i) {
    const size_t at = i * partial_stride_ + columns.begin;
    for (uint32_t distance = 1; distance < ranks_; distance *= 2)
      for (uint32_t rank = 0; rank < ranks_; rank += 2 * distance)
        kernels_.add(&partials_[rank][at], &partials_[rank + distance][at], columns.size(), &partials_[rank][at]);
    std::copy_n(&partials_[0][at], columns.size(), y + i * y_stride + columns.begin);
  }
}

Status CheckTensorParallel(const Weights& weights, uint32_t ranks) {
  for (const LayerWeights& layer : weights.layers) {
    for (const LinearWeights* matrix : {&layer.attention_output, &layer.down}) {
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        if (!arith::MakeTreeOfRank(matrix->shape, ranks, rank).empty()) continue;
        return Error{ErrorCode::kInvalidArgument, "tensor_parallel " + std::to_string(ranks) + ": a matrix of " +
                                                      std::to_string(matrix->shape.inputs) + " inputs in units of " +
                                                      std::to_string(matrix->shape.unit) +
                                                      " cannot be shared by so many ranks"};
      }
    }
  }
  return {};
}

}  // namespace samebit::engine
