#include "kernels/control_kernels.h"

#include <algorithm>
#include <vector>

namespace samebit::kernels {

void ControlLinear(const KernelTable& base, const LinearCall& call, uint32_t threads, uint32_t panel_begin,
                   uint32_t panel_end) {
  const uint32_t begin = call.tree.front().begin, end = call.tree.back().end;
  const arith::WeightFormat& format = arith::Format(call.weights->type());
  const uint32_t unit = format.quantized ? format.block_elements : 1;
  const uint32_t units = (end - begin) / unit;
  // One part more per doubling of the batch and per thread: neighbours and threads both show.
  uint32_t parts = threads;
  for (uint32_t m = call.m; m > 1; m /= 2) ++parts;
  parts = std::clamp(parts, 1u, std::min(units, arith::kTreeDepthMax));
  std::vector<arith::Leaf> tree(parts);
  for (uint32_t i = 0; i < parts; ++i) {
    tree[i] = {begin + static_cast<uint32_t>(uint64_t{units} * i / parts) * unit,
               begin + static_cast<uint32_t>(uint64_t{units} * (i + 1) / parts) * unit, i == 0 ? 0u : 1u};
  }
  LinearCall split = call;
  split.tree = tree;
  base.linear(split, panel_begin, panel_end);
}

}  // namespace samebit::kernels
