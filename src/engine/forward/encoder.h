// The forward pass of an encoder of BERT's shape: whole texts in, one row per token out, every token seeing every token
// of its own text. Nothing is left for a later pass: no cache, no positions to go on from.
//
// All workers of a team run it together, as they run the decoder: a phase splits rows, output columns or attention units,
// and a barrier ends it. A text's rows depend on its own tokens alone; texts are laid one after the other without padding.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "engine/forward/activations.h"
#include "engine/forward/linear.h"
#include "engine/options.h"
#include "engine/weights.h"
#include "kernels/team.h"

namespace samebit::engine {

// Texts of one pass: with so many the matrices are as busy as they get.
inline constexpr uint32_t kPassTextsMax = 64;

class Encoder {
 public:
  // Keeps a reference to the weights, which are an encoder's. rows_max: tokens of one pass, all texts together.
  Encoder(const Weights& weights, const EngineOptions& options, uint32_t rows_max);

  // texts: at most kPassTextsMax, none empty, each at most config.positions long, together at most rows_max
  // tokens. Their rows are row(0), row(1), ... afterwards, in the order of the texts.
  void Forward(kernels::Team& team, std::span<const std::span<const TokenId>> texts);

  const float* row(uint32_t row) { return rows_.row(row); }  // [width]
  // After Forward: whether a NaN or an infinity appeared in a row; the text's vector is then worthless.
  bool row_failed(uint32_t row) const { return failed_[row].load(std::memory_order_relaxed); }

  uint64_t bytes() const;  // of all buffers

 private:
  struct Text {
    std::span<const TokenId> tokens;
    uint32_t first_row = 0, first_page = 0;
  };
  // Queries of one text and head that are computed together.
  struct Unit {
    uint32_t text = 0, head = 0, row_begin = 0, row_count = 0;  // rows within the text
  };

  void Plan(std::span<const std::span<const TokenId>> texts);
  void RunWorker(kernels::Worker& worker);
  void Embed(uint32_t row);
  void NormRow(uint32_t row, const std::vector<float>& weights, const std::vector<float>& bias);
  void StoreHead(uint32_t row, uint32_t head, const LayerWeights& layer);
  void Attend(kernels::Worker& worker);
  void RunUnit(const Unit& unit, float* parts);
  // branch + bias is added to the rows.
  void AddBranch(kernels::Worker& worker, const LinearWeights& weights, const std::vector<float>& bias,
                 const Activations& input);
  void FeedForward(kernels::Worker& worker, const LayerWeights& layer);
  std::byte* Page(uint32_t page, uint32_t head) {
    return memory_.get() + (size_t{page} * config_.heads + head) * head_page_.bytes();
  }
  void Check(bool finite, uint32_t row) {
    if (!finite) failed_[row].store(true, std::memory_order_relaxed);
  }

  const Weights& weights_;
  const model::ModelConfig& config_;
  const kernels::KernelTable& kernels_;
  const kernels::HeadPage head_page_;  // keys and values of the layer at hand, kept as binary32
  const uint32_t rows_max_;
  const size_t part_stride_;
  const bool heads_are_blocks_;  // a head is a whole number of quantization blocks

  std::vector<Text> texts_;
  std::vector<uint32_t> text_of_row_;
  std::vector<Unit> units_;
  uint32_t row_count_ = 0;

  Activations rows_, attended_, hidden_;
  std::vector<float> branch_, queries_, keys_, values_;  // [rows_max, width]
  kernels::AlignedBytes memory_;
  uint64_t memory_bytes_ = 0;
  std::vector<std::vector<float>> worker_parts_;  // [workers], running and next parts of one unit
  std::vector<std::atomic<bool>> failed_;         // [rows_max]
  LinearRunner linear_;
};

}  // namespace samebit::engine
