#include "engine/forward/decoder.h"

#include <algorithm>
#include <array>

#include "arith/attention.h"
#include "arith/rope.h"

namespace samebit::engine {

namespace {

constexpr uint32_t kSplit = arith::kAttentionSplitKeys;

bool HasLocalLayers(const Weights& weights) {
  return std::any_of(weights.layers.begin(), weights.layers.end(),
                     [](const LayerWeights& layer) { return layer.local; });
}

// Magnitudes from here on round to infinity in an f16 cache (65520); from infinity on, in an f32 cache.
uint32_t CacheOverflowBits(kernels::CacheType type) {
  return type == kernels::CacheType::kF16 ? 0x477ff000u : 0x7f800000u;
}

// Attention gives a score that is not a number no weight, which would hide it; so nothing that could make one goes in.
bool AllBelow(const float* x, uint32_t n, uint32_t limit_bits) {
  uint32_t largest = 0;
  for (uint32_t i = 0; i < n; ++i) largest = std::max(largest, arith::BitsOf(x[i]) & 0x7fffffffu);
  return largest < limit_bits;
}

}  // namespace

Decoder::Decoder(const Weights& weights, const EngineOptions& options, KvCache& cache)
    : weights_(weights),
      config_(weights.config),
      kernels_(kernels::Kernels(options.isa)),
      cache_(cache),
      head_page_{options.cache_type, weights.config.head_size, options.page_tokens},
      rows_max_(options.step_rows_max),
      workers_(options.threads),
      query_columns_(config_.heads * config_.head_size),
      key_columns_(config_.kv_heads * config_.head_size),
      group_(config_.heads / config_.kv_heads),
      part_stride_(kernels::kPartOut + config_.head_size),
      heads_are_blocks_(config_.head_size % arith::kActivationBlock == 0),
      residual_(size_t{rows_max_} * config_.width),
      branch_(size_t{rows_max_} * config_.width),
      normed_(rows_max_, config_.width,
              AnyQuantized(weights, &LayerWeights::query, &LayerWeights::key, &LayerWeights::value, &LayerWeights::gate,
                           &LayerWeights::up)),
      attended_(rows_max_, query_columns_, AnyQuantized(weights, &LayerWeights::attention_output)),
      hidden_(rows_max_, config_.ffn_width, AnyQuantized(weights, &LayerWeights::down)),
      final_(rows_max_, config_.width, IsQuantized(weights.head())),
      queries_(size_t{rows_max_} * query_columns_),
      keys_(size_t{rows_max_} * key_columns_),
      values_(size_t{rows_max_} * key_columns_),
      up_(size_t{rows_max_} * config_.ffn_width),
      cosines_(size_t{rows_max_} * config_.head_size / 2),
      sines_(cosines_.size()),
      cosines_local_(HasLocalLayers(weights) ? cosines_.size() : 0),
      sines_local_(cosines_local_.size()),
      worker_parts_(workers_),
      logit_count_(size_t{std::min(kLogitRowsMax, rows_max_)} * config_.vocabulary),
      logit_memory_(kernels::AllocateAligned(logit_count_ * sizeof(float))),
      failed_(rows_max_),
      linear_(kernels_, options, rows_max_, config_.width) {
  const uint32_t queries_max = std::max(kUnitQueriesMax, group_);
  for (std::vector<float>& parts : worker_parts_) parts.resize(2 * queries_max * part_stride_);
}

uint64_t Decoder::bytes() const {
  const uint64_t floats = residual_.size() + branch_.size() + queries_.size() + keys_.size() + values_.size() +
                          up_.size() + logit_count_ + parts_.size() + 4 * cosines_.size();
  return floats * sizeof(float) + normed_.bytes() + attended_.bytes() + hidden_.bytes() + final_.bytes();
}

void Decoder::Forward(kernels::Team& team, const Batch& batch, const LogitsVisitor& visit) {
  for (uint32_t row = 0; row < batch.rows(); ++row) failed_[row].store(false, std::memory_order_relaxed);
  plan_ = PlanAttention(batch, {config_.kv_heads, group_, 0}, workers_);
  if (!cosines_local_.empty())
    plan_local_ = PlanAttention(batch, {config_.kv_heads, group_, config_.sliding_window}, workers_);
  const size_t part_count = std::max(plan_.part_count, plan_local_.part_count);
  if (parts_.size() < part_count * group_ * part_stride_) parts_.resize(part_count * group_ * part_stride_);
  team.Run([&](kernels::Worker& worker) { RunWorker(worker, batch, visit); });
}

void Decoder::Begin(kernels::Worker& worker, Phase phase) {
  worker.Barrier();
  if (observer_ != nullptr && worker.index() == 0) observer_->Begin(phase);
}

void Decoder::RunWorker(kernels::Worker& worker, const Batch& batch, const LogitsVisitor& visit) {
  const uint32_t rows = batch.rows();
  const kernels::Range my_rows = worker.Part(rows);
  if (observer_ != nullptr && worker.index() == 0) observer_->Begin(Phase::kEmbed);
  for (uint32_t row = my_rows.begin; row < my_rows.end; ++row) {
    Embed(batch, row);
    NormRow(row, nullptr, weights_.layers[0].attention_norm);
  }

  for (uint32_t index = 0; index < config_.layers; ++index) {
    const LayerWeights& layer = weights_.layers[index];
    Begin(worker, Phase::kQueryKeyValue);
    ProjectQueriesKeysValues(worker, layer, rows);
    Begin(worker, Phase::kRope);
    RotateAndStore(worker, batch, layer, index);
    Begin(worker, Phase::kAttention);
    Attend(worker, batch, layer, index);
    Begin(worker, Phase::kAttentionOutput);
    AddBranch(worker, layer.attention_output, attended_, rows);
    Begin(worker, Phase::kNorm);
    for (uint32_t row = my_rows.begin; row < my_rows.end; ++row)
      NormRow(row, &layer.attention_post_norm, layer.ffn_norm);
    Begin(worker, Phase::kGateUp);
    FeedForward(worker, layer, rows);
    Begin(worker, Phase::kDown);
    AddBranch(worker, layer.down, hidden_, rows);
    Begin(worker, Phase::kNorm);
    const bool last = index + 1 == config_.layers;
    const std::vector<float>& next_norm = last ? weights_.output_norm : weights_.layers[index + 1].attention_norm;
    for (uint32_t row = my_rows.begin; row < my_rows.end; ++row) NormRow(row, &layer.ffn_post_norm, next_norm);
  }
  worker.Barrier();
  VisitLogits(worker, batch, visit);
}

void Decoder::Embed(const Batch& batch, uint32_t row) {
  float* x = &residual_[size_t{row} * config_.width];
  weights_.embedding.matrix.UnpackRow(static_cast<uint32_t>(batch.tokens[row]), x);
  if (config_.embedding_scale != 1) kernels_.scale(x, config_.embedding_scale, config_.width, x);
  const size_t at = size_t{row} * config_.head_size / 2;
  arith::RopeAngles(weights_.rope_frequencies, batch.positions[row], &cosines_[at], &sines_[at]);
  if (!cosines_local_.empty())
    arith::RopeAngles(weights_.rope_frequencies_local, batch.positions[row], &cosines_local_[at], &sines_local_[at]);
}

void Decoder::NormRow(uint32_t row, const std::vector<float>* branch_norm, const std::vector<float>& norm) {
  const uint32_t width = config_.width;
  float* x = &residual_[size_t{row} * width];
  if (branch_norm != nullptr && config_.post_norms) {
    float* branch = &branch_[size_t{row} * width];
    if (!kernels_.rms_norm(branch, branch_norm->data(), width, config_.norm_epsilon, branch)) Fail(row);
    kernels_.add(x, branch, width, x);
  }
  if (!kernels_.rms_norm(x, norm.data(), width, config_.norm_epsilon, normed_.row(row))) Fail(row);
  if (normed_.quantize()) Quantize(normed_, row, 0, width, row);
}

void Decoder::ProjectQueriesKeysValues(kernels::Worker& worker, const LayerWeights& layer, uint32_t rows) {
  const LinearInput input = normed_.Input(rows);
  linear_.Run(worker, layer.query, Share::kColumns, input, queries_.data(), query_columns_);
  linear_.Run(worker, layer.key, Share::kColumns, input, keys_.data(), key_columns_);
  linear_.Run(worker, layer.value, Share::kColumns, input, values_.data(), key_columns_);
}

void Decoder::RotateAndStore(kernels::Worker& worker, const Batch& batch, const LayerWeights& layer,
                             uint32_t layer_index) {
  const uint32_t size = config_.head_size;
  const float* all_cosines = layer.local ? cosines_local_.data() : cosines_.data();
  const float* all_sines = layer.local ? sines_local_.data() : sines_.data();
  // One item is one KV head of one row, with the query heads that share it.
  const kernels::Range items = worker.Part(batch.rows() * config_.kv_heads);
  size_t group_index = 0;
  for (uint32_t item = items.begin; item < items.end; ++item) {
    const uint32_t row = item / config_.kv_heads;
    const uint32_t kv_head = item % config_.kv_heads;
    const float* cosines = all_cosines + size_t{row} * size / 2;
    const float* sines = all_sines + size_t{row} * size / 2;
    const auto prepare = [&](float* head, const std::vector<float>& bias, uint32_t column,
                             const std::vector<float>& norm) {
      if (!bias.empty()) kernels_.add(head, &bias[column], size, head);
      if (!norm.empty() && !kernels_.rms_norm(head, norm.data(), size, config_.norm_epsilon, head)) Fail(row);
      kernels_.apply_rope(head, size, cosines, sines);
    };
    for (uint32_t i = 0; i < group_; ++i) {
      const uint32_t column = (kv_head * group_ + i) * size;
      float* query = &queries_[size_t{row} * query_columns_ + column];
      prepare(query, layer.query_bias, column, layer.query_norm);
      kernels_.scale(query, config_.attention_scale, size, query);
      if (!AllBelow(query, size, CacheOverflowBits(kernels::CacheType::kF32))) Fail(row);
    }
    const uint32_t column = kv_head * size;
    float* key = &keys_[size_t{row} * key_columns_ + column];
    float* value = &values_[size_t{row} * key_columns_ + column];
    prepare(key, layer.key_bias, column, layer.key_norm);
    if (!layer.value_bias.empty()) kernels_.add(value, &layer.value_bias[column], size, value);
    const uint32_t overflow = CacheOverflowBits(head_page_.type);
    if (!AllBelow(key, size, overflow) || !AllBelow(value, size, overflow)) Fail(row);

    while (row >= batch.groups[group_index].first_row + batch.groups[group_index].row_count) ++group_index;
    const Position position = batch.positions[row];
    const PageId page = (*batch.groups[group_index].pages)[position / head_page_.page_tokens];
    kernels_.store_key_value(head_page_, cache_.Head(page, layer_index, kv_head), position % head_page_.page_tokens,
                             key, value);
  }
}

void Decoder::FinishHead(uint32_t row, uint32_t head, const float* part) {
  const uint32_t size = config_.head_size;
  kernels_.finish_attention(part, size, attended_.row(row) + size_t{head} * size);
  if (attended_.quantize() && heads_are_blocks_) Quantize(attended_, row, head * size, (head + 1) * size, row);
}

void Decoder::RunAttentionUnit(const AttentionUnit& unit, const Batch& batch, uint32_t window, uint32_t layer_index,
                               uint32_t worker_index) {
  constexpr uint32_t kPagesMax = kSplit / 16;
  const RowGroup& group = batch.groups[unit.group];
  const uint32_t query_count = unit.row_count * group_;
  std::array<const float*, 256> queries;
  std::array<uint16_t, 256> begin, end;
  std::array<bool, 256> started = {};
  std::array<const std::byte*, kPagesMax> pages;
  for (uint32_t q = 0; q < query_count; ++q) {
    const uint32_t row = group.first_row + unit.row_begin + q / group_;
    queries[q] =
        &queries_[size_t{row} * query_columns_ + size_t{unit.kv_head * group_ + q % group_} * config_.head_size];
  }

  float* running = worker_parts_[worker_index].data();
  float* next = running + size_t{query_count} * part_stride_;
  if (unit.shared_part >= 0) running = &parts_[size_t(unit.shared_part) * group_ * part_stride_];
  const uint32_t pages_per_split = kSplit / head_page_.page_tokens;
  for (uint32_t split = unit.split_begin; split < unit.split_end; ++split) {
    const Position base = split * kSplit;
    const auto page = [&](size_t logical) {
      return logical < group.pages->size() ? cache_.Head((*group.pages)[logical], layer_index, unit.kv_head) : nullptr;
    };
    const size_t first_page = size_t{split} * pages_per_split;
    for (uint32_t i = 0; i < pages_per_split; ++i) pages[i] = page(first_page + i);
    for (uint32_t q = 0; q < query_count; ++q) {
      const Position position = group.first_position + unit.row_begin + q / group_;
      const Position first = FirstVisible(position, window);
      begin[q] = static_cast<uint16_t>(first > base ? std::min(first - base, kSplit) : 0);
      end[q] = static_cast<uint16_t>(position + 1 > base ? std::min(position + 1 - base, kSplit) : 0);
    }
    kernels::AttentionSplitCall call;
    call.layout = head_page_;
    call.pages = pages.data();
    call.next_keys = page(first_page + pages_per_split);
    call.query_count = query_count;
    call.queries = queries.data();
    call.begin = begin.data();
    call.end = end.data();
    call.parts = split == unit.split_begin ? running : next;
    call.part_stride = part_stride_;
    kernels_.attention_split(call);
    for (uint32_t q = 0; q < query_count; ++q) {
      if (begin[q] >= end[q]) continue;
      if (call.parts == next) {
        if (started[q]) {
          kernels_.merge_attention(running + q * part_stride_, next + q * part_stride_, config_.head_size);
        } else {
          std::copy_n(next + q * part_stride_, part_stride_, running + q * part_stride_);
        }
      }
      started[q] = true;
    }
  }
  if (unit.shared_part >= 0) return;
  for (uint32_t q = 0; q < query_count; ++q)
    FinishHead(group.first_row + unit.row_begin + q / group_, unit.kv_head * group_ + q % group_,
               running + q * part_stride_);
}

void Decoder::Attend(kernels::Worker& worker, const Batch& batch, const LayerWeights& layer, uint32_t layer_index) {
  const AttentionPlan& plan = layer.local ? plan_local_ : plan_;
  const uint32_t window = layer.local ? config_.sliding_window : 0;
  const kernels::Range units = UnitsOf(plan, worker.index(), worker.count());
  for (uint32_t i = units.begin; i < units.end; ++i)
    RunAttentionUnit(plan.units[i], batch, window, layer_index, worker.index());
  if (!plan.merges.empty()) {
    worker.Barrier();
    const kernels::Range merges = worker.Part(static_cast<uint32_t>(plan.merges.size()));
    for (uint32_t i = merges.begin; i < merges.end; ++i) {
      const AttentionMerge& merge = plan.merges[i];
      for (uint32_t q = 0; q < group_; ++q) {
        float* running = &parts_[(size_t{merge.part_begin} * group_ + q) * part_stride_];
        for (uint32_t part = 1; part < merge.part_count; ++part)
          kernels_.merge_attention(running, running + size_t{part} * group_ * part_stride_, config_.head_size);
        FinishHead(merge.row, merge.kv_head * group_ + q, running);
      }
    }
  }
  if (attended_.quantize() && !heads_are_blocks_) {
    worker.Barrier();
    const kernels::Range rows = worker.Part(batch.rows());
    for (uint32_t row = rows.begin; row < rows.end; ++row) Quantize(attended_, row, 0, query_columns_, row);
  }
}

void Decoder::AddBranch(kernels::Worker& worker, const LinearWeights& weights, const Activations& input,
                        uint32_t rows) {
  linear_.Run(worker, weights, Share::kRows, input.Input(rows), branch_.data(), config_.width);
  if (config_.post_norms) return;  // NormRow adds it, once the whole row is there
  const kernels::Range columns = ColumnsOf(worker, weights.matrix);
  for (uint32_t row = 0; row < rows; ++row) {
    float* x = &residual_[size_t{row} * config_.width + columns.begin];
    kernels_.add(x, &branch_[size_t{row} * config_.width + columns.begin], columns.size(), x);
  }
}

void Decoder::FeedForward(kernels::Worker& worker, const LayerWeights& layer, uint32_t rows) {
  const LinearInput input = normed_.Input(rows);
  linear_.Run(worker, layer.gate, Share::kColumns, input, hidden_.data(), config_.ffn_width);
  linear_.Run(worker, layer.up, Share::kColumns, input, up_.data(), config_.ffn_width);
  const auto activate =
      config_.activation == model::Activation::kSilu ? kernels_.silu_multiply : kernels_.gelu_multiply;
  const kernels::Range columns = ColumnsOf(worker, layer.gate.matrix);
  if (columns.empty()) return;
  for (uint32_t row = 0; row < rows; ++row) {
    float* hidden = hidden_.row(row) + columns.begin;
    activate(hidden, &up_[size_t{row} * config_.ffn_width + columns.begin], columns.size(), hidden);
    if (hidden_.quantize()) Quantize(hidden_, row, columns.begin, columns.end, row);
  }
}

void Decoder::VisitLogits(kernels::Worker& worker, const Batch& batch, const LogitsVisitor& visit) {
  const auto count = static_cast<uint32_t>(batch.logit_rows.size());
  const kernels::Range mine = worker.Part(count);
  for (uint32_t i = mine.begin; i < mine.end; ++i) {
    const uint32_t row = batch.logit_rows[i];
    std::copy_n(normed_.row(row), config_.width, final_.row(i));
    if (final_.quantize()) Quantize(final_, i, 0, config_.width, row);
  }
  const uint32_t at_once = std::min(kLogitRowsMax, rows_max_);
  for (uint32_t first = 0; first < count; first += at_once) {
    const uint32_t rows = std::min(at_once, count - first);
    Begin(worker, Phase::kHead);
    linear_.Run(worker, weights_.head(), Share::kColumns, final_.Input(rows, first), logits(0), config_.vocabulary);
    Begin(worker, Phase::kSample);
    const kernels::Range visits = worker.Part(rows);
    for (uint32_t i = visits.begin; i < visits.end; ++i) visit(first + i, logits(i));
  }
}

}  // namespace samebit::engine
