// The law's operations, fast: one table of functions per instruction set, each equal to arith bit for bit for every
// shape (tests/conformance). Kernels know no models, no threads, no clock: a caller hands them a range and they fill
// it.
//
// All pointers are to binary32 unless stated. Rows of activations are contiguous; strides are in elements.
// Any thread may call any function; two threads must not write the same output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arith/attention.h"
#include "arith/linear.h"
#include "arith/log_probability.h"
#include "kernels/isa.h"
#include "kernels/packed_matrix.h"

namespace samebit::kernels {

// y [m, rows] = x [m, columns] * weights^T by rules L, Q and T.
struct LinearCall {
  const PackedMatrix* weights = nullptr;
  std::span<const arith::Leaf> tree;  // over weights->columns(); a whole tree or a rank's subtree
  uint32_t m = 0;                     // rows of x
  const float* x = nullptr;           // float weights: [m, x_stride]
  size_t x_stride = 0;
  const QuantizedRows* quantized = nullptr;  // quantized weights: rows 0..m-1 were filled
  uint32_t quantized_row = 0;                // first row of `quantized` that belongs to this call
  float* y = nullptr;                        // [m, y_stride]; columns of the panels asked for are written, no others
  size_t y_stride = 0;
};

enum class CacheType : uint8_t { kF16, kF32 };
inline size_t CacheElementBytes(CacheType type) { return type == CacheType::kF16 ? 2 : 4; }

// Layout of one KV head of one layer inside a page of `page_tokens` tokens (a multiple of 16 that divides 256):
//   keys   [page_tokens / 16][head_size][16]   lane = key
//   values [page_tokens][head_size]            lane = dimension
struct HeadPage {
  CacheType type = CacheType::kF16;
  uint32_t head_size = 0;  // a multiple of 16
  uint32_t page_tokens = 0;
  size_t value_offset() const { return size_t{page_tokens} * head_size * CacheElementBytes(type); }
  size_t bytes() const { return 2 * value_offset(); }
};

// Rule A for one split of 256 keys, one KV head, and the queries (of one sequence) that share that head.
struct AttentionSplitCall {
  HeadPage layout;
  const std::byte* const* pages =
      nullptr;  // [256 / page_tokens] this head's part of the split's pages; unused ones may be null
  uint32_t query_count = 0;
  const float* const* queries = nullptr;  // [query_count] -> [head_size], already rotated and scaled
  const uint16_t* begin = nullptr;        // [query_count] first visible key in the split
  const uint16_t* end = nullptr;          // [query_count] one past the last; begin >= end: the query has no part here
  float* parts = nullptr;                 // [query_count][part_stride]: max, sum, then out [head_size] from index 16
  size_t part_stride = 0;                 // at least 16 + head_size; a query without a part is left untouched
  const std::byte* next_keys = nullptr;   // the page whose keys are read next, to be asked for ahead; null: not known
};
inline constexpr size_t kPartOut = 16;  // index of `out` in a part: keeps it aligned

struct KernelTable {
  Isa isa;

  // Rule Q. False: NaN or infinity in the row.
  bool (*quantize_row)(const float* x, uint32_t columns, const arith::QuantizedRow& out);
  // Rules L, Q, T for output panels [panel_begin, panel_end).
  void (*linear)(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end);

  // Rule N. out may be x. False: not finite.
  bool (*rms_norm)(const float* x, const float* w, uint32_t n, float epsilon, float* out);
  // Rule N with mean and bias. out may be x. False: not finite.
  bool (*layer_norm)(const float* x, const float* w, const float* b, uint32_t n, float epsilon, float* out);
  // Rule R, one head in place.
  void (*apply_rope)(float* x, uint32_t head_size, const float* cosines, const float* sines);

  // Element-wise, n elements; out may be an input.
  void (*add)(const float* x, const float* y, uint32_t n, float* out);                // x + y
  void (*scale)(const float* x, float factor, uint32_t n, float* out);                // x * factor
  void (*silu_multiply)(const float* gate, const float* up, uint32_t n, float* out);  // silu(gate) * up
  void (*gelu_multiply)(const float* gate, const float* up, uint32_t n, float* out);  // gelu_tanh(gate) * up
  void (*gelu_tanh)(const float* x, uint32_t n, float* out);
  void (*gelu_erf)(const float* x, uint32_t n, float* out);

  // Writes one token's key and value head [head_size] into slot `token` of a page's head part, rounded to its type.
  void (*store_key_value)(const HeadPage& layout, std::byte* page, uint32_t token, const float* key,
                          const float* value);
  // Rule A.
  void (*attention_split)(const AttentionSplitCall& call);
  void (*merge_attention)(float* running_part, const float* next_part, uint32_t head_size);
  void (*finish_attention)(const float* running_part, uint32_t head_size, float* out);

  // Rule S and P, over logits [n].
  uint64_t (*largest_candidate)(const float* logits, uint32_t n);  // arith::CandidateKey of the first
  uint64_t (*sampling_weights)(const float* logits, uint32_t n, float max, float inverse_temperature,
                               uint32_t* weights);  // returns their sum
  arith::LogSoftmax (*log_softmax)(const float* logits, uint32_t n);
  bool (*all_finite)(const float* x, uint32_t n);

  // For benchmarks, not the law: `linear` with the sums in whatever order is fastest; what the fixed order costs.
  void (*linear_free)(const LinearCall& call, uint32_t panel_begin, uint32_t panel_end);
  // For benchmarks: the machine's roof, `rounds` (at most 2^20) rounds of binary32 fma, and
  // of byte products, in registers. Adds to nothing; `operations` is set to the multiplications and additions done.
  // What is returned only keeps the compiler from leaving the work out.
  float (*peak_fma)(uint32_t rounds, uint64_t* operations);
  float (*peak_dot)(uint32_t rounds, uint64_t* operations);
};

// The table of an instruction set. Precondition: `isa` is among AvailableIsas().
const KernelTable& Kernels(Isa isa);

}  // namespace samebit::kernels
