// Rule Q: a payload of weights is unpacked once for a group of rows; the integer sum of a scale group is exact, so its
// order is free (AddPayload of payload*.h), and everything after it follows the law's chain.
#pragma once

#include <span>

#include "kernels/simd/activation_block.h"
#include "kernels/simd/linear_float.h"

namespace samebit::kernels {
namespace {

// Bytes of one group of rows on the stack; longer rows pass in smaller groups.
inline constexpr size_t kActivationBytesMax = size_t{512} << 10;

// How far ahead of the block in work memory is asked for, where enough rows share a block that computing it takes about
// as long as reading it. With fewer rows the hardware's own prefetch does better (docs/design/0010).
inline constexpr size_t kAheadBytes = 4096;

template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void GatherRows(const LinearCall& call, uint32_t row, uint32_t block_begin, uint32_t block_end,
                               ActivationBlock<kRows, kStream.groups>* out) {
  for (uint32_t r = 0; r < kRows; ++r) {
    const arith::QuantizedRow in = call.quantized->row(call.quantized_row + row + r);
    for (uint32_t b = block_begin; b < block_end; ++b) {
      ActivationBlock<kRows, kStream.groups>& block = out[b - block_begin];
      __builtin_memcpy(block.codes[r], in.codes + size_t{b} * layout::kBlockInputs, layout::kBlockInputs);
      block.scales[r] = in.scales[b];
      block.scaled_sums[r] = in.scaled_sums[b];
      if constexpr (kStream.groups == 2) {
        block.corrections[0][r] = -kStream.code_offset * in.half_sums[2 * size_t{b}];
        block.corrections[1][r] = -kStream.code_offset * in.half_sums[2 * size_t{b} + 1];
      } else {
        block.corrections[0][r] =
            -kStream.code_offset * (in.half_sums[2 * size_t{b}] + in.half_sums[2 * size_t{b} + 1]);
      }
    }
  }
}

// acc continues its chain over one stored block: 32 inputs, or 256.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void AddBlock(const uint8_t* block, const ActivationBlock<kRows, kStream.groups>* x,
                             Floats (&acc)[kRows]) {
  const Floats unit = LoadHalves(reinterpret_cast<const uint16_t*>(block));
  const Floats minimum_unit =
      kStream.has_minimum ? LoadHalves(reinterpret_cast<const uint16_t*>(block + layout::kHalvesBytes)) : Splat(0.0f);
  if constexpr (!kStream.super_blocks) {
    Floats scale[1] = {unit};
    AddPayload<kStream, kRows>(block + kStream.payload_offset, *x, scale, minimum_unit, acc);
  } else {
    const uint8_t* scales = block + layout::kHalvesBytes * (kStream.has_minimum ? 2 : 1);
    const uint8_t* minimums = scales + kStream.groups * layout::kPayloadsPerSuperBlock * 16;
    for (uint32_t i = 0; i < layout::kPayloadsPerSuperBlock; ++i) {
      Floats scale[kStream.groups];
      for (uint32_t group = 0; group < kStream.groups; ++group) {
        const uint8_t* sub = scales + (i * kStream.groups + group) * 16;
        scale[group] =
            Mul(unit, ToFloat(kStream.groups == 2 ? LoadI8(reinterpret_cast<const int8_t*>(sub)) : LoadU8(sub)));
      }
      Floats minimum = minimum_unit;
      if constexpr (kStream.has_minimum)
        minimum = Sub(Splat(-0.0f), Mul(minimum_unit, ToFloat(LoadU8(minimums + i * 16))));  // exact negation
      AddPayload<kStream, kRows>(block + kStream.payload_offset + i * kStream.payload_bytes, x[i], scale, minimum, acc);
    }
  }
}

template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void PrefetchBlock(const uint8_t* block) {
  if constexpr (kRows >= kPrefetchRowsMin)
    for (uint32_t line = 0; line < kStream.block_bytes; line += 64) Prefetch(block + kAheadBytes + line);
}

// acc: the chain of one leaf, whose stored blocks and activations block and x walk along. A leaf has a block.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void SumLeaf(const arith::Leaf& leaf, const uint8_t*& block,
                            const ActivationBlock<kRows, kStream.groups>*& x, Floats (&acc)[kRows]) {
  for (uint32_t r = 0; r < kRows; ++r) acc[r] = Splat(0.0f);
  uint32_t blocks = (leaf.end - leaf.begin) / kStream.block_inputs;
  do {
    PrefetchBlock<kStream, kRows>(block);
    AddBlock<kStream, kRows>(block, x, acc);
    block += kStream.block_bytes;
    x += kStream.block_inputs / layout::kBlockInputs;
  } while (--blocks > 0);
}

template <layout::Stream kStream>
SAMEBIT_INLINE const uint8_t* FirstBlock(const LinearCall& call, uint32_t panel) {
  return reinterpret_cast<const uint8_t*>(call.weights->panel(panel)) +
         size_t{call.tree.front().begin / kStream.block_inputs} * kStream.block_bytes;
}

template <uint32_t kRows>
SAMEBIT_INLINE void StoreTile(const LinearCall& call, uint32_t row, uint32_t panel, const Floats (&acc)[kRows]) {
  const uint32_t left = call.weights->rows() - panel * 16;
  for (uint32_t r = 0; r < kRows; ++r)
    StorePart(call.y + (row + r) * call.y_stride + size_t{panel} * 16, left < 16 ? left : 16, acc[r]);
}

// acc: the sum of the node that the newest leaf ends; all sums that are not yet part of another one wait in order.
template <uint32_t kRows>
SAMEBIT_INLINE void Merge(uint32_t merges, const Floats (*waiting)[kRows], uint32_t& depth, Floats (&acc)[kRows]) {
  for (; merges > 0; --merges) {
    --depth;
    for (uint32_t r = 0; r < kRows; ++r) acc[r] = Add(waiting[depth][r], acc[r]);
  }
}

// Do the leaves come in pairs of siblings? So they do in nearly all trees of the law.
inline bool HasPairsOnly(std::span<const arith::Leaf> tree) {
  for (size_t i = 0; i < tree.size(); ++i)
    if ((tree[i].merges > 0) != (i % 2 == 1)) return false;
  return tree.size() % 2 == 0;
}

// One panel for kRows rows. kPairs: a tree of pairs only; each half of a pair is code of its own, and fewer sums pass
// through memory. Where the weights come from memory a loop over single leaves costs up to a tenth (docs/design/0018).
template <layout::Stream kStream, uint32_t kRows, bool kPairs>
SAMEBIT_NOINLINE void TreeTile(const LinearCall& call, const ActivationBlock<kRows, kStream.groups>* x, uint32_t row,
                               uint32_t panel) {
  const uint8_t* block = FirstBlock<kStream>(call, panel);
  const arith::Leaf* leaf = call.tree.data();
  const arith::Leaf* const end = leaf + call.tree.size();
  Floats acc[kRows], waiting[arith::kTreeDepthMax][kRows];
  uint32_t depth = 0;
  while (true) {
    SumLeaf<kStream, kRows>(*leaf, block, x, acc);
    if constexpr (kPairs) {
      Floats first[kRows];
      for (uint32_t r = 0; r < kRows; ++r) first[r] = acc[r];
      SumLeaf<kStream, kRows>(*++leaf, block, x, acc);
      for (uint32_t r = 0; r < kRows; ++r) acc[r] = Add(first[r], acc[r]);
    }
    Merge<kRows>(leaf->merges - (kPairs ? 1 : 0), waiting, depth, acc);
    if (++leaf == end) break;
    CHECK(depth < arith::kTreeDepthMax);
    for (uint32_t r = 0; r < kRows; ++r) waiting[depth][r] = acc[r];
    ++depth;
  }
  StoreTile(call, row, panel, acc);
}

// In which order the products of an output are added: the law's here, any in linear_free.h.
//   Panel<kStream, kRows>: one panel for rows [row, row + kRows); x starts at the block of the tree's first input.
//   Float<Weight>: panels [begin, end) of float weights.
struct LawOrder {
  explicit LawOrder(const LinearCall& call) : pairs_only(HasPairsOnly(call.tree)) {}

  template <layout::Stream kStream, uint32_t kRows>
  SAMEBIT_INLINE void Panel(const LinearCall& call, const ActivationBlock<kRows, kStream.groups>* x, uint32_t row,
                            uint32_t panel) const {
    return pairs_only ? TreeTile<kStream, kRows, true>(call, x, row, panel)
                      : TreeTile<kStream, kRows, false>(call, x, row, panel);
  }
  template <class Weight>
  static void Float(const LinearCall& call, uint32_t begin, uint32_t end) {
    LinearFloat<Weight>(call, begin, end);
  }

  bool pairs_only;
};

// Rows [row, row + count), count <= kRows, panels [begin, end). Memory: kActivationBytesMax bytes.
template <layout::Stream kStream, uint32_t kRows, class Order>
SAMEBIT_INLINE void QuantizedRowGroup(const Order& order, const LinearCall& call, std::byte* memory, uint32_t row,
                                      uint32_t count, uint32_t begin, uint32_t end) {
  if constexpr (kRows > 1) {
    if (count < kRows) return QuantizedRowGroup<kStream, kRows - 1>(order, call, memory, row, count, begin, end);
  }
  auto* x = reinterpret_cast<ActivationBlock<kRows, kStream.groups>*>(memory);
  GatherRows<kStream, kRows>(call, row, call.tree.front().begin / layout::kBlockInputs,
                             call.tree.back().end / layout::kBlockInputs, x);
  for (uint32_t panel = begin; panel < end; ++panel) order.template Panel<kStream, kRows>(call, x, row, panel);
}

template <layout::Stream kStream, class Order>
void LinearQuantized(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  alignas(64) std::byte memory[kActivationBytesMax];
  const uint32_t blocks = call.weights->columns() / layout::kBlockInputs;
  uint32_t rows_max =
      static_cast<uint32_t>(kActivationBytesMax / (blocks * sizeof(ActivationBlock<1, kStream.groups>)));
  CHECK(rows_max > 0);  // limits::kWidthMax inputs need 400 kB
  constexpr uint32_t kRowsMax = kStream.groups == 2 ? kTwoGroupRowsMax : kQuantizedRowsMax;
  rows_max = rows_max < kRowsMax ? rows_max : kRowsMax;
  const Order order(call);
  ForPanelChunks(call, rows_max, panel_begin, panel_end, [&](uint32_t begin, uint32_t end) {
    ForRowGroups(call.m, rows_max, [&](uint32_t row, uint32_t count) {
      QuantizedRowGroup<kStream, kRowsMax>(order, call, memory, row, count, begin, end);
    });
  });
}

template <class Order>
void LinearInOrder(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  if (call.m == 0 || panel_begin >= panel_end) return;
  CHECK(!call.tree.empty());
  switch (call.weights->type()) {
    case arith::WeightType::kF32:
      return Order::template Float<F32Weight>(call, panel_begin, panel_end);
    case arith::WeightType::kF16:
      return Order::template Float<F16Weight>(call, panel_begin, panel_end);
    case arith::WeightType::kBf16:
      return Order::template Float<Bf16Weight>(call, panel_begin, panel_end);
    case arith::WeightType::kQ4_0:
      return LinearQuantized<layout::kQ4_0, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ4_1:
      return LinearQuantized<layout::kQ4_1, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ5_0:
      return LinearQuantized<layout::kQ5_0, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ5_1:
      return LinearQuantized<layout::kQ5_1, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ8_0:
      return LinearQuantized<layout::kQ8_0, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ4_K:
      return LinearQuantized<layout::kQ4_K, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ5_K:
      return LinearQuantized<layout::kQ5_K, Order>(call, panel_begin, panel_end);
    case arith::WeightType::kQ6_K:
      return LinearQuantized<layout::kQ6_K, Order>(call, panel_begin, panel_end);
  }
}

void Linear(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  LinearInOrder<LawOrder>(call, panel_begin, panel_end);
}

}  // namespace
}  // namespace samebit::kernels
