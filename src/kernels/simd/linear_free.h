// Not the law: linear layers whose sums may be added in any order, as fast as we know how. `samebit bench --free-order`
// measures with them what the fixed order costs; nothing that answers a request calls them.
//
// What a free order buys: no tree (one leaf over all of K), and for a few rows, where one chain per output leaves the
// multipliers waiting for the sum before, two chains. From four rows on the rows themselves fill that time.
#pragma once

#include "kernels/simd/linear_quantized.h"

namespace samebit::kernels {
namespace {

inline constexpr uint32_t kFreeRowsMax = 3;

template <class Weight, uint32_t kRows, uint32_t kPanels>
SAMEBIT_NOINLINE void FreeFloatTile(const LinearCall& call, uint32_t panel, uint32_t last_lanes) {
  using Element = typename Weight::Element;
  const uint32_t begin = call.tree.front().begin, end = call.tree.back().end;
  const Element* weights[kPanels];
  for (uint32_t p = 0; p < kPanels; ++p) weights[p] = reinterpret_cast<const Element*>(call.weights->panel(panel + p));
  Floats acc[2][kRows][kPanels];
  for (uint32_t chain = 0; chain < 2; ++chain)
    for (uint32_t r = 0; r < kRows; ++r)
      for (uint32_t p = 0; p < kPanels; ++p) acc[chain][r][p] = Splat(0.0f);
  uint32_t k = begin;
  for (; k + 2 <= end; k += 2) {
    for (uint32_t chain = 0; chain < 2; ++chain) {
      Floats w[kPanels];
      for (uint32_t p = 0; p < kPanels; ++p) w[p] = Weight::Widen(weights[p] + size_t{k + chain} * 16);
      for (uint32_t r = 0; r < kRows; ++r) {
        const Floats xs = Splat(call.x[r * call.x_stride + k + chain]);
        for (uint32_t p = 0; p < kPanels; ++p) acc[chain][r][p] = Fma(xs, w[p], acc[chain][r][p]);
      }
    }
  }
  for (; k < end; ++k)
    for (uint32_t r = 0; r < kRows; ++r)
      for (uint32_t p = 0; p < kPanels; ++p)
        acc[0][r][p] =
            Fma(Splat(call.x[r * call.x_stride + k]), Weight::Widen(weights[p] + size_t{k} * 16), acc[0][r][p]);
  for (uint32_t r = 0; r < kRows; ++r) {
    float* y = call.y + r * call.y_stride + size_t{panel} * 16;
    for (uint32_t p = 0; p < kPanels; ++p)
      StorePart(y + 16 * p, p + 1 == kPanels ? last_lanes : 16, Add(acc[0][r][p], acc[1][r][p]));
  }
}

template <class Weight, uint32_t kRows>
SAMEBIT_INLINE void FreeFloatRows(const LinearCall& call, uint32_t begin, uint32_t end) {
  if constexpr (kRows > 1) {
    if (call.m < kRows) return FreeFloatRows<Weight, kRows - 1>(call, begin, end);
  }
  constexpr uint32_t kPanels = kFloatPanelsForFewRows;
  const auto lanes = [&call](uint32_t panel) {
    const uint32_t left = call.weights->rows() - panel * 16;
    return left < 16 ? left : 16;
  };
  uint32_t panel = begin;
  for (; panel + kPanels <= end; panel += kPanels)
    FreeFloatTile<Weight, kRows, kPanels>(call, panel, lanes(panel + kPanels - 1));
  if constexpr (kPanels > 1)
    for (; panel < end; ++panel) FreeFloatTile<Weight, kRows, 1>(call, panel, lanes(panel));
}

template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_NOINLINE void FreeTile(const LinearCall& call, const ActivationBlock<kRows, kStream.groups>* x, uint32_t row,
                               uint32_t panel) {
  constexpr uint32_t kChains = kRows <= kFreeRowsMax ? 2 : 1;
  const uint8_t* block = FirstBlock<kStream>(call, panel);
  Floats acc[kChains][kRows];
  for (uint32_t chain = 0; chain < kChains; ++chain)
    for (uint32_t r = 0; r < kRows; ++r) acc[chain][r] = Splat(0.0f);
  const auto add = [&](Floats(&chain)[kRows]) __attribute__((always_inline)) {
    PrefetchBlock<kStream, kRows>(block);
    AddBlock<kStream, kRows>(block, x, chain);
    block += kStream.block_bytes;
    x += kStream.block_inputs / layout::kBlockInputs;
  };
  uint32_t left = (call.tree.back().end - call.tree.front().begin) / kStream.block_inputs;
  for (; left >= kChains; left -= kChains)
    for (uint32_t chain = 0; chain < kChains; ++chain) add(acc[chain]);
  if (left > 0) add(acc[0]);
  if constexpr (kChains == 2)
    for (uint32_t r = 0; r < kRows; ++r) acc[0][r] = Add(acc[0][r], acc[1][r]);
  StoreTile(call, row, panel, acc[0]);
}

struct FreeOrder {
  explicit FreeOrder(const LinearCall&) {}

  template <layout::Stream kStream, uint32_t kRows>
  SAMEBIT_INLINE void Panel(const LinearCall& call, const ActivationBlock<kRows, kStream.groups>* x, uint32_t row,
                            uint32_t panel) const {
    FreeTile<kStream, kRows>(call, x, row, panel);
  }
  template <class Weight>
  static void Float(const LinearCall& call, uint32_t begin, uint32_t end) {
    if (call.m <= kFreeRowsMax) return FreeFloatRows<Weight, kFreeRowsMax>(call, begin, end);
    const arith::Leaf whole = {call.tree.front().begin, call.tree.back().end, 0};
    LinearCall chain = call;
    chain.tree = {&whole, 1};
    LinearFloat<Weight>(chain, begin, end);
  }
};

void LinearFree(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  LinearInOrder<FreeOrder>(call, panel_begin, panel_end);
}

}  // namespace
}  // namespace samebit::kernels
