// Rule T, the K-tree: in which order the products of one output are added.
//
// K inputs are U units (a unit is 32 inputs; the head size for the attention output projection; a stored block where
// the weights are quantized; never anything of the machine). A node splits at its middle unit, U/2 rounded down going
// left, while its depth is under 2; at depth 2 if it holds 256 inputs or more; and, for float weights, while it is longer
// than 512 inputs. A leaf is one sequential chain. A node is left + right, one rounded addition.
//
// Tensor-parallel rank r of 2^p (p <= 3) owns the node r at depth p, so 1, 2, 4 and, for matrices of at least about 1024
// inputs, 8 ranks compute the same tree, and the parts are added left + right up the tree in binary32. One rule serves
// every matrix.
#pragma once

#include <cstdint>
#include <vector>

namespace samebit::arith {

// Leaves in ascending order. After a leaf has been computed, `merges` says how many times the two newest unmerged
// values are added (older + newer): a stack machine that evaluates the tree.
struct Leaf {
  uint32_t begin = 0;  // first input
  uint32_t end = 0;    // one past the last input
  uint32_t merges = 0;
};

inline constexpr uint32_t kForcedTreeLevels = 3;  // 8 ranks at most; costs up to 3 % (docs/design/0016)
// The third level cuts only what leaves leaves of some length: with 2 or 3 blocks each they cost 3 to 7 %.
inline constexpr uint32_t kThirdLevelInputsMin = 256;
// The error of a chain grows with its length; 512 keeps a sum's at 3 to 6 units of 2^-24 (docs/arithmetic.md).
inline constexpr uint32_t kFloatLeafInputsMax = 512;
inline constexpr uint32_t kTreeDepthMax = 32;  // values alive at once; a stack array of this size always suffices

struct TreeShape {
  uint32_t inputs = 0;          // K
  uint32_t unit = 32;           // inputs of a unit; the last unit may be shorter
  bool split_long_leaves = true;  // float weights: also split leaves over kFloatLeafInputsMax
};

// The whole tree.
std::vector<Leaf> MakeTree(const TreeShape& shape);

// The subtree of rank `rank` of `ranks` (1, 2, 4 or 8). Empty if the rank's node does not exist because the tree is
// shallower; the caller refuses such a parallel size.
std::vector<Leaf> MakeTreeOfRank(const TreeShape& shape, uint32_t ranks, uint32_t rank);

}  // namespace samebit::arith
