#include "arith/reduction_tree.h"

#include <algorithm>

namespace samebit::arith {

namespace {

// Whether the tree has a node of `units` units at `depth` in two parts.
bool Splits(const TreeShape& shape, uint32_t units, uint32_t depth) {
  if (units < 2) return false;
  const uint32_t inputs = units * shape.unit;
  if (depth + 1 < kForcedTreeLevels) return true;
  if (depth + 1 == kForcedTreeLevels && inputs >= kThirdLevelInputsMin) return true;
  return shape.split_long_leaves && inputs > kFloatLeafInputsMax;
}

struct Builder {
  const TreeShape& shape;
  std::vector<Leaf> leaves;

  void Add(uint32_t begin, uint32_t end, uint32_t depth) {
    if (Splits(shape, end - begin, depth)) {
      const uint32_t middle = begin + (end - begin) / 2;
      Add(begin, middle, depth + 1);
      Add(middle, end, depth + 1);
      ++leaves.back().merges;
    } else {
      leaves.push_back({begin * shape.unit, std::min(end * shape.unit, shape.inputs), 0});
    }
  }
};

uint32_t Units(const TreeShape& shape) { return (shape.inputs + shape.unit - 1) / shape.unit; }

}  // namespace

std::vector<Leaf> MakeTree(const TreeShape& shape) {
  Builder builder{shape, {}};
  builder.Add(0, Units(shape), 0);
  return builder.leaves;
}

std::vector<Leaf> MakeTreeOfRank(const TreeShape& shape, uint32_t ranks, uint32_t rank) {
  uint32_t begin = 0, end = Units(shape), depth = 0;
  for (uint32_t half = ranks / 2; half >= 1; half /= 2, ++depth) {
    if (!Splits(shape, end - begin, depth)) return {};
    const uint32_t middle = begin + (end - begin) / 2;
    (rank & half ? begin : end) = middle;
  }
  Builder builder{shape, {}};
  builder.Add(begin, end, depth);
  return builder.leaves;
}

}  // namespace samebit::arith
