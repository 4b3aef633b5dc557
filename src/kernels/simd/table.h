// Everything that a table of kernels holds, instantiated for the vector type that was included before this file.
#pragma once

#include "kernels/simd/elementary.h"
#include "kernels/simd/rows.h"
#include "kernels/simd/vocabulary.h"
#include "kernels/simd/attention.h"
#include "kernels/simd/linear_float.h"
#include "kernels/simd/linear_quantized.h"
#include "kernels/simd/linear_free.h"
#include "kernels/simd/peak.h"

namespace samebit::kernels {
namespace {

consteval KernelTable TableOf(Isa isa) {
  return {.isa = isa,
          .quantize_row = QuantizeRow,
          .linear = Linear,
          .rms_norm = RmsNorm,
          .layer_norm = LayerNorm,
          .apply_rope = ApplyRope,
          .add = AddRows,
          .scale = ScaleRow,
          .silu_multiply = SiluMultiply,
          .gelu_multiply = GeluMultiply,
          .gelu_tanh = GeluTanhRow,
          .gelu_erf = GeluErfRow,
          .store_key_value = StoreKeyValue,
          .attention_split = AttentionSplit,
          .merge_attention = MergeAttention,
          .finish_attention = FinishAttention,
          .largest_candidate = LargestCandidate,
          .sampling_weights = SamplingWeights,
          .log_softmax = LogSoftmaxOf,
          .all_finite = AllFinite,
          .linear_free = LinearFree,
          .peak_fma = PeakFma,
          .peak_dot = PeakDot};
}

}  // namespace
}  // namespace samebit::kernels
