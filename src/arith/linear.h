// Rules L and Q, linear layers: y[m][n] = sum over k of x[m][k] * w[n][k], one fixed sequence of operations per output.
//
// L, float weights (F32, F16, BF16 widened exactly; activations stay binary32). In a leaf of the K-tree:
//     acc = 0; for k ascending: acc = fma(x[k], w[k], acc)
//
// Q, block-quantized weights. The activation row is quantized in blocks of 32 (QuantizeRow). In a leaf, for each scale
// group (32 inputs, or 16 for Q6_K) ascending:
//     isum  = sum of (code - offset) * x_code                   exact integer, so its order is free
//     acc   = fma(float(isum), scale * x_scale, acc)            float(isum) is exact (under 2^24)
//     acc   = fma(minimum, x_scale * float(x_sum), acc)         only formats with a minimum; the product is exact
// scale * x_scale is exact for the formats with one f16 scale, and rounded once for K-quants.
// Leaves are then combined by rule T. This file is the reference: plain scalar loops, no packing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arith/number_formats.h"
#include "arith/reduction_tree.h"

namespace samebit::arith {

inline constexpr uint32_t kActivationBlock = 32;

// One quantized activation row of `columns` values (a multiple of 32).
struct QuantizedRow {
  int8_t* codes;      // [columns], in [-127, 127]
  float* scales;      // [columns / 32], 11 significant bits
  float* scaled_sums; // [columns / 32], scale * sum of the block's codes, exact
  int32_t* half_sums; // [columns / 16], sums of codes over 16 inputs
};

// Per block of 32: amax = largest |x|; scale = amax / 127 rounded to 11 significant bits (nearest even, binary32's
// exponent range: the product with an f16 scale is exact and small blocks keep their precision, which an f16 scale
// loses below 2^-14); code = x * (1 / scale) rounded to nearest even by one fma. A block with amax < 2^-100 is 0.
// Returns false if the row holds a NaN or an infinity; the output is then unspecified and the request fails.
bool QuantizeRow(const float* x, uint32_t columns, const QuantizedRow& out);

// The scale of QuantizeRow: amax / 127 at 11 significant bits.
float ActivationScale(float amax);

struct LinearWeights {
  WeightType type;
  uint32_t rows;      // outputs N
  uint32_t columns;   // inputs K; a multiple of the format's block
  const void* bytes;  // [rows][columns] stored blocks, row after row
};

// y [m, rows] for x [m, columns], by the law; `tree` from MakeTree or MakeTreeOfRank over K.
// Quantized weights quantize x first. Returns false where QuantizeRow does. Slow: the truth, not the engine.
bool LinearReference(const LinearWeights& weights, const std::vector<Leaf>& tree, const float* x, uint32_t m, float* y);

// The tree that the law gives to a matrix. unit: 32, or the head size for the attention output projection; the law
// raises it to a whole number of stored blocks (32 or 256) for quantized weights.
TreeShape LinearTreeShape(WeightType type, uint32_t columns, uint32_t unit = 32);

}  // namespace samebit::arith
