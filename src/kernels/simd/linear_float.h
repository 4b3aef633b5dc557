// Rule L with float weights: a tile of kRows rows by kPanels panels, one chain per output in a register lane.
#pragma once

#include "arith/reduction_tree.h"
#include "kernels/kernels.h"

namespace samebit::kernels {
namespace {

// Packed panels that stay in the second-level cache while all rows pass over them.
inline constexpr size_t kPanelChunkBytes = size_t{256} << 10;

struct F32Weight {
  using Element = float;
  SAMEBIT_INLINE static Floats Widen(const Element* p) { return Load(p); }
};
struct F16Weight {
  using Element = uint16_t;
  SAMEBIT_INLINE static Floats Widen(const Element* p) { return LoadHalves(p); }
};
struct Bf16Weight {
  using Element = uint16_t;
  SAMEBIT_INLINE static Floats Widen(const Element* p) { return LoadBrains(p); }
};

// Outputs of `kRows` rows and `kPanels` panels; the last panel has `last_lanes` outputs.
template <class Weight, uint32_t kRows, uint32_t kPanels>
SAMEBIT_NOINLINE void FloatTile(const LinearCall& call, uint32_t row, uint32_t panel, uint32_t last_lanes) {
  using Element = typename Weight::Element;
  const arith::Leaf* leaves = call.tree.data();
  const size_t leaf_count = call.tree.size();
  const float* x = call.x + row * call.x_stride;
  const Element* weights[kPanels];
  for (uint32_t p = 0; p < kPanels; ++p) weights[p] = reinterpret_cast<const Element*>(call.weights->panel(panel + p));
  Floats stack[arith::kTreeDepthMax][kRows][kPanels];
  Floats acc[kRows][kPanels];
  for (uint32_t r = 0; r < kRows; ++r)
    for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Splat(0.0f);
  uint32_t depth = 0;
  for (size_t i = 0; i < leaf_count; ++i) {
    if (i > 0) {  // the value so far waits on the stack
      for (uint32_t r = 0; r < kRows; ++r) {
        for (uint32_t p = 0; p < kPanels; ++p) {
          stack[depth][r][p] = acc[r][p];
          acc[r][p] = Splat(0.0f);
        }
      }
      ++depth;
    }
    for (uint32_t k = leaves[i].begin; k < leaves[i].end; ++k) {
      Floats w[kPanels];
      for (uint32_t p = 0; p < kPanels; ++p) w[p] = Weight::Widen(weights[p] + size_t{k} * 16);
      for (uint32_t r = 0; r < kRows; ++r) {
        const Floats xs = Splat(x[r * call.x_stride + k]);
        for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Fma(xs, w[p], acc[r][p]);
      }
    }
    for (uint32_t merge = 0; merge < leaves[i].merges; ++merge) {
      --depth;
      for (uint32_t r = 0; r < kRows; ++r)
        for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Add(stack[depth][r][p], acc[r][p]);
    }
  }
  for (uint32_t r = 0; r < kRows; ++r) {
    float* y = call.y + (row + r) * call.y_stride + size_t{panel} * 16;
    for (uint32_t p = 0; p < kPanels; ++p) StorePart(y + 16 * p, p + 1 == kPanels ? last_lanes : 16, acc[r][p]);
  }
}

// Rows [row, row + count), count <= kRows, panels [begin, end).
template <class Weight, uint32_t kRows>
SAMEBIT_INLINE void FloatRows(const LinearCall& call, uint32_t row, uint32_t count, uint32_t begin, uint32_t end) {
  if constexpr (kRows > 1) {
    if (count < kRows) return FloatRows<Weight, kRows - 1>(call, row, count, begin, end);
  }
  const auto lanes = [&call](uint32_t panel) {
    const uint32_t left = call.weights->rows() - panel * 16;
    return left < 16 ? left : 16;
  };
  // A chain of fma has a latency of about four: a few rows need more panels to fill the time.
  constexpr uint32_t kPanels = kRows < 4 ? kFloatPanelsForFewRows : kFloatPanelsAtOnce;
  uint32_t panel = begin;
  for (; panel + kPanels <= end; panel += kPanels)
    FloatTile<Weight, kRows, kPanels>(call, row, panel, lanes(panel + kPanels - 1));
  if constexpr (kPanels > 1)
    for (; panel < end; ++panel) FloatTile<Weight, kRows, 1>(call, row, panel, lanes(panel));
}

// Calls f(row, count) for groups of nearly equal size, at most `rows_max` rows each.
template <class Function>
SAMEBIT_INLINE void ForRowGroups(uint32_t m, uint32_t rows_max, Function f) {
  uint32_t groups = (m + rows_max - 1) / rows_max;
  for (uint32_t row = 0; row < m; --groups) {
    const uint32_t count = (m - row + groups - 1) / groups;
    f(row, count);
    row += count;
  }
}

// Calls f(begin, end) for runs of panels that fit the cache chunk; one run where the rows pass only once.
template <class Function>
SAMEBIT_INLINE void ForPanelChunks(const LinearCall& call, uint32_t rows_max, uint32_t begin, uint32_t end,
                                   Function f) {
  const size_t fitting = kPanelChunkBytes / call.weights->panel_bytes();
  uint32_t run = fitting < 4 ? 4 : static_cast<uint32_t>(fitting);
  if (call.m <= rows_max) run = end - begin;
  for (uint32_t first = begin; first < end; first += run) f(first, end - first < run ? end : first + run);
}

template <class Weight>
void LinearFloat(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  ForPanelChunks(call, kFloatRowsMax, panel_begin, panel_end, [&call](uint32_t begin, uint32_t end) {
    ForRowGroups(call.m, kFloatRowsMax,
                 [&](uint32_t row, uint32_t count) { FloatRows<Weight, kFloatRowsMax>(call, row, count, begin, end); });
  });
}

}  // namespace
}  // namespace samebit::kernels
