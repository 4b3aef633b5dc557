#include "arith/linear.h"

#include <numeric>

#include "arith/environment.h"
#include "base/check.h"

namespace samebit::arith {

namespace {

constexpr uint32_t kInfinityBits = 0x7f800000u;
constexpr float kSmallestAmax = 0x1p-100f;  // keeps 1/scale finite
constexpr float kRoundingMagic = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits

// Evaluates the tree over a function that computes one leaf.
template <class LeafValue>
float Evaluate(const std::vector<Leaf>& tree, LeafValue leaf_value) {
  float stack[kTreeDepthMax];
  uint32_t size = 0;
  for (const Leaf& leaf : tree) {
    stack[size++] = leaf_value(leaf);
    for (uint32_t i = 0; i < leaf.merges; ++i, --size) stack[size - 2] = stack[size - 2] + stack[size - 1];
  }
  CHECK(size == 1);
  return stack[0];
}

float FloatLeaf(const float* w, const float* x, const Leaf& leaf) {
  float acc = 0;
  for (uint32_t k = leaf.begin; k < leaf.end; ++k) acc = Fma(x[k], w[k], acc);
  return acc;
}

struct UnpackedRow {
  std::vector<uint8_t> codes;
  std::vector<float> scales, minimums;
};

float QuantizedLeaf(const WeightFormat& format, const UnpackedRow& w, const QuantizedRow& x, const Leaf& leaf) {
  const uint32_t group_size = format.scale_elements;
  float acc = 0;
  for (uint32_t group = leaf.begin / group_size; group < leaf.end / group_size; ++group) {
    int32_t isum = 0;
    for (uint32_t k = group * group_size; k < (group + 1) * group_size; ++k)
      isum += (static_cast<int32_t>(w.codes[k]) - format.code_offset) * x.codes[k];
    const uint32_t block = group * group_size / kActivationBlock;
    acc = Fma(static_cast<float>(isum), w.scales[group] * x.scales[block], acc);
    if (format.has_minimum) acc = Fma(w.minimums[group], x.scaled_sums[block], acc);
  }
  return acc;
}

}  // namespace

float ActivationScale(float amax) {
  const uint32_t bits = BitsOf(amax / 127.0f);
  const uint32_t odd = (bits >> 13) & 1;
  return FloatOf((bits + 0xfffu + odd) & ~0x1fffu);
}

bool QuantizeRow(const float* x, uint32_t columns, const QuantizedRow& out) {
  bool finite = true;
  for (uint32_t block = 0; block < columns / kActivationBlock; ++block) {
    const float* in = x + block * kActivationBlock;
    int8_t* codes = out.codes + block * kActivationBlock;
    uint32_t amax_bits = 0;  // for non-negative floats the order of the bits is the order of the values
    for (uint32_t i = 0; i < kActivationBlock; ++i) {
      const uint32_t magnitude = BitsOf(in[i]) & 0x7fffffffu;
      if (magnitude > amax_bits) amax_bits = magnitude;
    }
    if (amax_bits >= kInfinityBits) finite = false;
    const float amax = FloatOf(amax_bits);
    float scale = 0, inverse = 0;
    if (amax >= kSmallestAmax) {
      scale = ActivationScale(amax);
      inverse = 1.0f / scale;
    }
    int32_t sums[2] = {0, 0};
    for (uint32_t i = 0; i < kActivationBlock; ++i) {
      const uint32_t shifted = BitsOf(Fma(in[i], inverse, kRoundingMagic));
      const int32_t code = static_cast<int32_t>(shifted - BitsOf(kRoundingMagic));
      codes[i] = static_cast<int8_t>(code);
      sums[i / 16] += codes[i];
    }
    out.scales[block] = scale;
    out.scaled_sums[block] = scale * static_cast<float>(sums[0] + sums[1]);
    out.half_sums[2 * block] = sums[0];
    out.half_sums[2 * block + 1] = sums[1];
  }
  return finite;
}

TreeShape LinearTreeShape(WeightType type, uint32_t columns, uint32_t unit) {
  const WeightFormat& format = Format(type);
  if (!format.quantized) return {columns, unit, true};
  const uint32_t whole = std::lcm(unit, format.block_elements);
  return {columns, columns % whole == 0 ? whole : format.block_elements, false};
}

bool LinearReference(const LinearWeights& weights, const std::vector<Leaf>& tree, const float* x, uint32_t m,
                     float* y) {
  const WeightFormat& format = Format(weights.type);
  const uint32_t columns = weights.columns;
  const uint64_t row_bytes = StoredBytes(weights.type, columns);
  const auto* bytes = static_cast<const uint8_t*>(weights.bytes);
  if (!format.quantized) {
    std::vector<float> w(columns);
    for (uint32_t n = 0; n < weights.rows; ++n) {
      Dequantize(weights.type, bytes + n * row_bytes, columns, w.data());
      for (uint32_t i = 0; i < m; ++i) {
        const float* row = x + uint64_t{i} * columns;
        y[uint64_t{i} * weights.rows + n] =
            Evaluate(tree, [&](const Leaf& leaf) { return FloatLeaf(w.data(), row, leaf); });
      }
    }
    return true;
  }

  const uint32_t blocks = columns / kActivationBlock;
  std::vector<int8_t> codes(uint64_t{m} * columns);
  std::vector<float> scales(uint64_t{m} * blocks), sums(uint64_t{m} * blocks);
  std::vector<int32_t> half_sums(uint64_t{m} * blocks * 2);
  const auto row_of = [&](uint64_t i) {
    return QuantizedRow{&codes[i * columns], &scales[i * blocks], &sums[i * blocks], &half_sums[i * blocks * 2]};
  };
  bool finite = true;
  for (uint32_t i = 0; i < m; ++i) finite &= QuantizeRow(x + uint64_t{i} * columns, columns, row_of(i));

  UnpackedRow w{std::vector<uint8_t>(columns), std::vector<float>(columns / format.scale_elements),
                std::vector<float>(columns / format.scale_elements)};
  const uint32_t groups_per_block = format.block_elements / format.scale_elements;
  for (uint32_t n = 0; n < weights.rows; ++n) {
    for (uint32_t block = 0; block < columns / format.block_elements; ++block) {
      UnpackBlock(weights.type, bytes + n * row_bytes + uint64_t{block} * format.block_bytes,
                  &w.codes[block * format.block_elements], &w.scales[block * groups_per_block],
                  &w.minimums[block * groups_per_block]);
    }
    for (uint32_t i = 0; i < m; ++i) {
      const QuantizedRow row = row_of(i);
      y[uint64_t{i} * weights.rows + n] =
          Evaluate(tree, [&](const Leaf& leaf) { return QuantizedLeaf(format, w, row, leaf); });
    }
  }
  return finite;
}

}  // namespace samebit::arith
