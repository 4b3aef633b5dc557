#include "engine/forward/encoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "arith/attention.h"

namespace samebit::engine {
namespace {

constexpr uint32_t kSplit = arith::kAttentionSplitKeys;
constexpr uint32_t kPageTokens = 16;  // the smallest page: a short text wastes little
constexpr uint32_t kPagesPerSplit = kSplit / kPageTokens;
// As the decoder's units: enough queries to use a register tile well, few enough to keep scores in the first cache.
constexpr uint32_t kUnitQueriesMax = 48;

uint32_t PagesOf(size_t tokens) { return static_cast<uint32_t>((tokens + kPageTokens - 1) / kPageTokens); }

}  // namespace

Encoder::Encoder(const Weights& weights, const EngineOptions& options, uint32_t rows_max)
    : weights_(weights),
      config_(weights.config),
      kernels_(kernels::Kernels(options.isa)),
      head_page_{kernels::CacheType::kF32, config_.head_size, kPageTokens},
      rows_max_(rows_max),
      part_stride_(kernels::kPartOut + config_.head_size),
      heads_are_blocks_(config_.head_size % arith::kActivationBlock == 0),
      text_of_row_(rows_max),
      rows_(rows_max, config_.width,
            AnyQuantized(weights, &LayerWeights::query, &LayerWeights::key, &LayerWeights::value, &LayerWeights::up)),
      attended_(rows_max, config_.width, AnyQuantized(weights, &LayerWeights::attention_output)),
      hidden_(rows_max, config_.ffn_width, AnyQuantized(weights, &LayerWeights::down)),
      branch_(size_t{rows_max} * config_.width),
      queries_(branch_.size()),
      keys_(branch_.size()),
      values_(branch_.size()),
      worker_parts_(options.threads, std::vector<float>(2 * kUnitQueriesMax * part_stride_)),
      failed_(rows_max),
      linear_(kernels_, options, rows_max, config_.width) {
  // Every text begins a page, so each may waste most of one.
  memory_bytes_ = (uint64_t{PagesOf(rows_max)} + kPassTextsMax) * config_.heads * head_page_.bytes();
  memory_ = kernels::AllocateAligned(memory_bytes_);
  std::memset(memory_.get(), 0, memory_bytes_);
}

uint64_t Encoder::bytes() const {
  const uint64_t floats = branch_.size() + queries_.size() + keys_.size() + values_.size();
  return floats * sizeof(float) + rows_.bytes() + attended_.bytes() + hidden_.bytes() + memory_bytes_;
}

void Encoder::Plan(std::span<const std::span<const TokenId>> texts) {
  CHECK(texts.size() <= kPassTextsMax);
  texts_.clear();
  units_.clear();
  row_count_ = 0;
  uint32_t pages = 0;
  for (uint32_t t = 0; t < texts.size(); ++t) {
    const auto count = static_cast<uint32_t>(texts[t].size());
    CHECK(count > 0 && count <= config_.positions && row_count_ + count <= rows_max_);
    texts_.push_back({texts[t], row_count_, pages});
    for (uint32_t i = 0; i < count; ++i) text_of_row_[row_count_ + i] = t;
    for (uint32_t head = 0; head < config_.heads; ++head)
      for (uint32_t row = 0; row < count; row += kUnitQueriesMax)
        units_.push_back({t, head, row, std::min(kUnitQueriesMax, count - row)});
    row_count_ += count;
    pages += PagesOf(count);
  }
  for (uint32_t row = 0; row < row_count_; ++row) failed_[row].store(false, std::memory_order_relaxed);
}

void Encoder::Forward(kernels::Team& team, std::span<const std::span<const TokenId>> texts) {
  Plan(texts);
  team.Run([&](kernels::Worker& worker) { RunWorker(worker); });
}

void Encoder::RunWorker(kernels::Worker& worker) {
  const kernels::Range my_rows = worker.Part(row_count_);
  const uint32_t width = config_.width;
  for (uint32_t row = my_rows.begin; row < my_rows.end; ++row) {
    Embed(row);
    NormRow(row, weights_.embedding_norm, weights_.embedding_norm_bias);
  }
  for (const LayerWeights& layer : weights_.layers) {
    worker.Barrier();
    const LinearInput input = rows_.Input(row_count_);
    linear_.Run(worker, layer.query, Share::kColumns, input, queries_.data(), width);
    linear_.Run(worker, layer.key, Share::kColumns, input, keys_.data(), width);
    linear_.Run(worker, layer.value, Share::kColumns, input, values_.data(), width);
    worker.Barrier();
    const kernels::Range heads = worker.Part(row_count_ * config_.heads);
    for (uint32_t item = heads.begin; item < heads.end; ++item)
      StoreHead(item / config_.heads, item % config_.heads, layer);
    worker.Barrier();
    Attend(worker);
    worker.Barrier();
    AddBranch(worker, layer.attention_output, layer.attention_output_bias, attended_);
    worker.Barrier();
    for (uint32_t row = my_rows.begin; row < my_rows.end; ++row)
      NormRow(row, layer.attention_norm, layer.attention_norm_bias);
    worker.Barrier();
    FeedForward(worker, layer);
    worker.Barrier();
    AddBranch(worker, layer.down, layer.down_bias, hidden_);
    worker.Barrier();
    for (uint32_t row = my_rows.begin; row < my_rows.end; ++row) NormRow(row, layer.ffn_norm, layer.ffn_norm_bias);
  }
}

void Encoder::Embed(uint32_t row) {
  const Text& text = texts_[text_of_row_[row]];
  const uint32_t position = row - text.first_row, width = config_.width;
  float* x = rows_.row(row);
  weights_.embedding.matrix.UnpackRow(static_cast<uint32_t>(text.tokens[position]), x);
  kernels_.add(x, weights_.token_types.data(), width, x);
  kernels_.add(x, &weights_.positions[size_t{position} * width], width, x);
}

void Encoder::NormRow(uint32_t row, const std::vector<float>& weights, const std::vector<float>& bias) {
  float* x = rows_.row(row);
  Check(kernels_.layer_norm(x, weights.data(), bias.data(), config_.width, config_.norm_epsilon, x), row);
  Check(rows_.Quantize(kernels_, row, 0, config_.width), row);
}

void Encoder::StoreHead(uint32_t row, uint32_t head, const LayerWeights& layer) {
  const uint32_t size = config_.head_size, column = head * size;
  const size_t at = size_t{row} * config_.width + column;
  kernels_.add(&queries_[at], &layer.query_bias[column], size, &queries_[at]);
  kernels_.add(&keys_[at], &layer.key_bias[column], size, &keys_[at]);
  kernels_.add(&values_[at], &layer.value_bias[column], size, &values_[at]);
  kernels_.scale(&queries_[at], config_.attention_scale, size, &queries_[at]);
  // Attention gives a score that is not a number no weight, which would hide it.
  for (const std::vector<float>* rows : {&queries_, &keys_, &values_})
    Check(kernels_.all_finite(&(*rows)[at], size), row);
  const Text& text = texts_[text_of_row_[row]];
  const uint32_t position = row - text.first_row;
  kernels_.store_key_value(head_page_, Page(text.first_page + position / kPageTokens, head), position % kPageTokens,
                           &keys_[at], &values_[at]);
}

void Encoder::Attend(kernels::Worker& worker) {
  const kernels::Range units = worker.Part(static_cast<uint32_t>(units_.size()));
  for (uint32_t i = units.begin; i < units.end; ++i) RunUnit(units_[i], worker_parts_[worker.index()].data());
  if (!attended_.quantize() || heads_are_blocks_) return;
  worker.Barrier();
  const kernels::Range rows = worker.Part(row_count_);
  for (uint32_t row = rows.begin; row < rows.end; ++row)
    Check(attended_.Quantize(kernels_, row, 0, config_.width), row);
}

void Encoder::RunUnit(const Unit& unit, float* parts) {
  const Text& text = texts_[unit.text];
  const auto keys = static_cast<uint32_t>(text.tokens.size());
  const uint32_t size = config_.head_size;
  std::array<const float*, kUnitQueriesMax> queries;
  std::array<uint16_t, kUnitQueriesMax> begin = {}, end;
  std::array<const std::byte*, kPagesPerSplit> pages;
  for (uint32_t q = 0; q < unit.row_count; ++q)
    queries[q] = &queries_[size_t{text.first_row + unit.row_begin + q} * config_.width + unit.head * size];

  float* next = parts + unit.row_count * part_stride_;
  for (uint32_t split = 0; split * kSplit < keys; ++split) {
    for (uint32_t i = 0; i < kPagesPerSplit; ++i) {
      const uint32_t page = split * kPagesPerSplit + i;
      pages[i] = page < PagesOf(keys) ? Page(text.first_page + page, unit.head) : nullptr;
    }
    end.fill(static_cast<uint16_t>(std::min(keys - split * kSplit, kSplit)));
    kernels::AttentionSplitCall call;
    call.layout = head_page_;
    call.pages = pages.data();
    call.query_count = unit.row_count;
    call.queries = queries.data();
    call.begin = begin.data();
    call.end = end.data();
    call.parts = split == 0 ? parts : next;
    call.part_stride = part_stride_;
    kernels_.attention_split(call);
    if (split == 0) continue;
    for (uint32_t q = 0; q < unit.row_count; ++q)
      kernels_.merge_attention(parts + q * part_stride_, next + q * part_stride_, size);
  }
  for (uint32_t q = 0; q < unit.row_count; ++q) {
    const uint32_t row = text.first_row + unit.row_begin + q;
    kernels_.finish_attention(parts + q * part_stride_, size, attended_.row(row) + size_t{unit.head} * size);
    if (heads_are_blocks_)
      Check(attended_.Quantize(kernels_, row, unit.head * size, (unit.head + 1) * size), row);
  }
}

void Encoder::AddBranch(kernels::Worker& worker, const LinearWeights& weights, const std::vector<float>& bias,
                        const Activations& input) {
  const uint32_t width = config_.width;
  linear_.Run(worker, weights, Share::kRows, input.Input(row_count_), branch_.data(), width);
  const kernels::Range columns = ColumnsOf(worker, weights.matrix);
  if (columns.empty()) return;
  for (uint32_t row = 0; row < row_count_; ++row) {
    float* branch = &branch_[size_t{row} * width + columns.begin];
    float* x = rows_.row(row) + columns.begin;
    kernels_.add(branch, &bias[columns.begin], columns.size(), branch);
    kernels_.add(x, branch, columns.size(), x);
  }
}

void Encoder::FeedForward(kernels::Worker& worker, const LayerWeights& layer) {
  linear_.Run(worker, layer.up, Share::kColumns, rows_.Input(row_count_), hidden_.data(), config_.ffn_width);
  const auto activate = config_.activation == model::Activation::kGeluErf ? kernels_.gelu_erf : kernels_.gelu_tanh;
  const kernels::Range columns = ColumnsOf(worker, layer.up.matrix);
  if (columns.empty()) return;
  for (uint32_t row = 0; row < row_count_; ++row) {
    float* hidden = hidden_.row(row) + columns.begin;
    kernels_.add(hidden, &layer.up_bias[columns.begin], columns.size(), hidden);
    activate(hidden, columns.size(), hidden);
    Check(hidden_.Quantize(kernels_, row, columns.begin, columns.end), row);
  }
}

}  // namespace samebit::engine
