#include "kernels/control_kernels.h"

#include <algorithm>
#include <vector>

namespace samebit::kernels {

namespace {

// One row on one thread is one chain; a batch or more threads split K, the more the larger they are.
uint32_t PartsFor(uint32_t m, uint32_t threads) { return m == 1 && threads == 1 ? 1 : 1 + threads + (m - 1) % 6; }

}  // namespace

void ControlLinear(const KernelTable& base, const LinearCall& call, uint32_t threads, uint32_t panel_begin, uint32_t panel_end) {
  const uint32_t unit = std::max(32u, arith::Format(call.weights->type()).block_elements);
  const uint32_t begin = call.tree.front().begin, end = call.tree.back().end;
  const uint32_t units = (end - begin + unit - 1) / unit;
  const uint32_t parts = std::min(PartsFor(call.m, threads), units);
  std::vector<arith::Leaf> leaves;
  for (uint32_t part = 0; part < parts; ++part) {
    arith::Leaf leaf;
    leaf.begin = begin + units * part / parts * unit;
    leaf.end = std::min(begin + units * (part + 1) / parts * unit, end);
    leaf.merges = part == 0 ? 0 : 1;
    leaves.push_back(leaf);
  }
  LinearCall control = call;
  control.tree = leaves;
  base.linear(control, panel_begin, panel_end);
}

}  // namespace samebit::kernels
