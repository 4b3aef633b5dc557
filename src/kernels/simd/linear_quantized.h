// Rule Q: a payload of weights is unpacked once for a group of rows; the integer sum of a scale group is exact, so its
// order is free (AddPayload of payload*.h), and everything after it follows the law's chain.
#pragma once

#include "kernels/simd/activation_block.h"
#include "kernels/simd/linear_float.h"

namespace samebit::kernels {
namespace {

// Bytes of one group of rows on the stack; longer rows pass in smaller groups.
inline constexpr size_t kActivationBytesMax = size_t{512} << 10;

// How far ahead of the block in work memory is asked for, where enough rows share a block that computing it takes about
// as long as reading it. With fewer rows the hardware's own prefetch does better (docs/design/0010).
inline constexpr size_t kAheadBytes = 4096;

// The law's trees over quantized rows have eight leaves at most; those of ControlLinear may have more.
inline constexpr uint32_t kQuantizedLeavesMax = arith::kTreeDepthMax;
static_assert(1u << arith::kForcedTreeLevels <= kQuantizedLeavesMax);

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

// One panel for kRows rows. x starts at the block of the tree's first input.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_NOINLINE void QuantizedTile(const LinearCall& call, const ActivationBlock<kRows, kStream.groups>* x,
                                    uint32_t row, uint32_t panel) {
  const arith::Leaf* leaves = call.tree.data();
  const size_t leaf_count = call.tree.size();
  const uint8_t* block = reinterpret_cast<const uint8_t*>(call.weights->panel(panel)) +
                         size_t{leaves[0].begin / kStream.block_inputs} * kStream.block_bytes;
  // The leaves' sums first, then the tree over them: no loop whose length changes stands between two leaves.
  Floats sums[kQuantizedLeavesMax][kRows];
  CHECK(leaf_count > 0 && leaf_count <= kQuantizedLeavesMax);
  size_t i = 0;
  do {  // a tree has a leaf, a leaf has a block
    Floats acc[kRows];
    for (uint32_t r = 0; r < kRows; ++r) acc[r] = Splat(0.0f);
    uint32_t blocks = (leaves[i].end - leaves[i].begin) / kStream.block_inputs;
    do {
      if constexpr (kRows >= kPrefetchRowsMin) {
        for (uint32_t line = 0; line < kStream.block_bytes; line += 64) Prefetch(block + kAheadBytes + line);
      }
      AddBlock<kStream, kRows>(block, x, acc);
      block += kStream.block_bytes;
      x += kStream.block_inputs / layout::kBlockInputs;
    } while (--blocks > 0);
    for (uint32_t r = 0; r < kRows; ++r) sums[i][r] = acc[r];
  } while (++i < leaf_count);
  // Whole trees: eight leaves, or four where the third level is not worth it. Written out, they stay in registers.
  if (leaf_count == 8 && leaves[7].merges == 3) {
    for (uint32_t r = 0; r < kRows; ++r)
      sums[0][r] = Add(Add(Add(sums[0][r], sums[1][r]), Add(sums[2][r], sums[3][r])),
                       Add(Add(sums[4][r], sums[5][r]), Add(sums[6][r], sums[7][r])));
  } else if (leaf_count == 4 && leaves[3].merges == 2) {
    for (uint32_t r = 0; r < kRows; ++r)
      sums[0][r] = Add(Add(sums[0][r], sums[1][r]), Add(sums[2][r], sums[3][r]));
  } else {
    uint32_t waiting = 0;  // sums[0 .. waiting) are not yet merged
    for (size_t leaf = 0; leaf < leaf_count; ++leaf, ++waiting) {
      for (uint32_t r = 0; r < kRows; ++r) sums[waiting][r] = sums[leaf][r];
      for (uint32_t merge = 0; merge < leaves[leaf].merges; ++merge, --waiting)
        for (uint32_t r = 0; r < kRows; ++r) sums[waiting - 1][r] = Add(sums[waiting - 1][r], sums[waiting][r]);
    }
  }
  const uint32_t left = call.weights->rows() - panel * 16;
  const uint32_t lanes = left < 16 ? left : 16;
  for (uint32_t r = 0; r < kRows; ++r)
    StorePart(call.y + (row + r) * call.y_stride + size_t{panel} * 16, lanes, sums[0][r]);
}

// Rows [row, row + count), count <= kRows, panels [begin, end). Memory: kActivationBytesMax bytes.
template <layout::Stream kStream, uint32_t kRows>
SAMEBIT_INLINE void QuantizedRowGroup(const LinearCall& call, std::byte* memory, uint32_t row, uint32_t count,
                                      uint32_t begin, uint32_t end) {
  if constexpr (kRows > 1) {
    if (count < kRows) return QuantizedRowGroup<kStream, kRows - 1>(call, memory, row, count, begin, end);
  }
  auto* x = reinterpret_cast<ActivationBlock<kRows, kStream.groups>*>(memory);
  const arith::Leaf* leaves = call.tree.data();
  GatherRows<kStream, kRows>(call, row, leaves[0].begin / layout::kBlockInputs,
                             leaves[call.tree.size() - 1].end / layout::kBlockInputs, x);
  for (uint32_t panel = begin; panel < end; ++panel) QuantizedTile<kStream, kRows>(call, x, row, panel);
}

template <layout::Stream kStream>
void LinearQuantized(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  alignas(64) std::byte memory[kActivationBytesMax];
  const uint32_t blocks = call.weights->columns() / layout::kBlockInputs;
  uint32_t rows_max =
      static_cast<uint32_t>(kActivationBytesMax / (blocks * sizeof(ActivationBlock<1, kStream.groups>)));
  CHECK(rows_max > 0);  // limits::kWidthMax inputs need 400 kB
  constexpr uint32_t kRowsMax = kStream.groups == 2 ? kTwoGroupRowsMax : kQuantizedRowsMax;
  rows_max = rows_max < kRowsMax ? rows_max : kRowsMax;
  ForPanelChunks(call, rows_max, panel_begin, panel_end, [&](uint32_t begin, uint32_t end) {
    ForRowGroups(call.m, rows_max, [&](uint32_t row, uint32_t count) {
      QuantizedRowGroup<kStream, kRowsMax>(call, memory, row, count, begin, end);
    });
  });
}

void Linear(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end) {
  if (call.m == 0 || panel_begin >= panel_end) return;
  switch (call.weights->type()) {
    case arith::WeightType::kF32:
      return LinearFloat<F32Weight>(call, panel_begin, panel_end);
    case arith::WeightType::kF16:
      return LinearFloat<F16Weight>(call, panel_begin, panel_end);
    case arith::WeightType::kBf16:
      return LinearFloat<Bf16Weight>(call, panel_begin, panel_end);
    case arith::WeightType::kQ4_0:
      return LinearQuantized<layout::kQ4_0>(call, panel_begin, panel_end);
    case arith::WeightType::kQ4_1:
      return LinearQuantized<layout::kQ4_1>(call, panel_begin, panel_end);
    case arith::WeightType::kQ5_0:
      return LinearQuantized<layout::kQ5_0>(call, panel_begin, panel_end);
    case arith::WeightType::kQ5_1:
      return LinearQuantized<layout::kQ5_1>(call, panel_begin, panel_end);
    case arith::WeightType::kQ8_0:
      return LinearQuantized<layout::kQ8_0>(call, panel_begin, panel_end);
    case arith::WeightType::kQ4_K:
      return LinearQuantized<layout::kQ4_K>(call, panel_begin, panel_end);
    case arith::WeightType::kQ5_K:
      return LinearQuantized<layout::kQ5_K>(call, panel_begin, panel_end);
    case arith::WeightType::kQ6_K:
      return LinearQuantized<layout::kQ6_K>(call, panel_begin, panel_end);
  }
}

}  // namespace
}  // namespace samebit::kernels
