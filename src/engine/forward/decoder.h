// The forward pass of a decoder-only transformer: token rows in, logits out. Llama, Mistral, Qwen2, Qwen3 and Gemma 3
// are this one pass with the fields of their ModelConfig; what differs between them is data (model/families), not code.
//
// All workers of a team run it together; a phase splits rows, output columns or attention units, and a barrier ends it.
// No output is computed by two workers, so the split cannot show in the bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/forward/activations.h"
#include "engine/forward/attention_plan.h"
#include "engine/forward/batch.h"
#include "engine/forward/linear.h"
#include "engine/kv_cache.h"
#include "engine/options.h"
#include "engine/phases.h"
#include "engine/weights.h"

namespace samebit::engine {

// Called once per row of Batch::logit_rows, from any worker, for different rows at once.
// logits: [vocabulary], valid during the call.
using LogitsVisitor = std::function<void(uint32_t logit_index, const float* logits)>;

class Decoder {
 public:
  // Keeps references to all of them. rows_max: the largest batch.
  Decoder(const Weights& weights, const EngineOptions& options, KvCache& cache);

  // Computes a batch of at most options.step_rows_max rows; writes its keys and values to the cache.
  void Forward(kernels::Team& team, const Batch& batch, const LogitsVisitor& visit);

  // After Forward: whether a NaN or an infinity appeared in a row. The row's logits and cache entries are then
  // worthless.
  bool row_failed(uint32_t row) const { return failed_[row].load(std::memory_order_relaxed); }

  // After Forward: a row behind the last norm, [width]; what a text's vector is made of.
  const float* final_row(uint32_t row) { return normed_.row(row); }

  void Observe(PhaseObserver* observer) { observer_ = observer; }

  // Bytes of all buffers.
  uint64_t bytes() const;

 private:
  // Quantizes columns [begin, end) of a row, whole blocks.
  void Quantize(Activations& activations, uint32_t row, uint32_t begin, uint32_t end, uint32_t batch_row) {
    if (!activations.Quantize(kernels_, row, begin, end)) Fail(batch_row);
  }
  float* logits(uint32_t row) {
    return reinterpret_cast<float*>(logit_memory_.get()) + size_t{row} * config_.vocabulary;
  }
  void Fail(uint32_t row) { failed_[row].store(true, std::memory_order_relaxed); }

  // Of every worker: all have ended the phase before. The first barrier of a pass is the team's own start.
  void Begin(kernels::Worker& worker, Phase phase);
  void RunWorker(kernels::Worker& worker, const Batch& batch, const LogitsVisitor& visit);
  void Embed(const Batch& batch, uint32_t row);
  // x += norm(branch) where the family has post-norms; then norms the row into `normed_`.
  void NormRow(uint32_t row, const std::vector<float>* branch_norm, const std::vector<float>& norm);
  void ProjectQueriesKeysValues(kernels::Worker& worker, const LayerWeights& layer, uint32_t rows);
  void RotateAndStore(kernels::Worker& worker, const Batch& batch, const LayerWeights& layer, uint32_t layer_index);
  void Attend(kernels::Worker& worker, const Batch& batch, const LayerWeights& layer, uint32_t layer_index);
  void RunAttentionUnit(const AttentionUnit& unit, const Batch& batch, uint32_t window, uint32_t layer_index,
                        uint32_t worker_index);
  void FinishHead(uint32_t row, uint32_t head, const float* part);
  void AddBranch(kernels::Worker& worker, const LinearWeights& weights, const Activations& input, uint32_t rows);
  void FeedForward(kernels::Worker& worker, const LayerWeights& layer, uint32_t rows);
  void VisitLogits(kernels::Worker& worker, const Batch& batch, const LogitsVisitor& visit);

  const Weights& weights_;
  const model::ModelConfig& config_;
  const kernels::KernelTable& kernels_;
  KvCache& cache_;
  kernels::HeadPage head_page_;
  uint32_t rows_max_;
  uint32_t workers_;
  uint32_t query_columns_, key_columns_, group_;
  size_t part_stride_;
  bool heads_are_blocks_;  // a head is a whole number of quantization blocks

  std::vector<float> residual_;  // [rows_max, width]
  std::vector<float> branch_;    // [rows_max, width] output of attention or feed-forward, before a post-norm
  Activations normed_, attended_, hidden_, final_;
  std::vector<float> queries_, keys_, values_;                        // [rows_max, *]
  std::vector<float> up_;                                             // [rows_max, ffn_width]
  std::vector<float> cosines_, sines_, cosines_local_, sines_local_;  // [rows_max, head_size / 2]
  std::vector<float> parts_;                                          // shared attention parts
  std::vector<std::vector<float>> worker_parts_;                      // [workers], running and next parts of one unit
  size_t logit_count_;
  kernels::AlignedBytes logit_memory_;  // [kLogitRowsMax, vocabulary]; not touched before a row of it is computed
  std::vector<std::atomic<bool>> failed_;                             // [rows_max]
  LinearRunner linear_;
  AttentionPlan plan_, plan_local_;
  PhaseObserver* observer_ = nullptr;
};

// Rows of logits that exist at once: enough to fill a kernel's tile, few enough for a vocabulary of 262,144.
inline constexpr uint32_t kLogitRowsMax = 32;

}  // namespace samebit::engine
