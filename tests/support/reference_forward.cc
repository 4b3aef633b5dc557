#include "support/reference_forward.h"

#include <algorithm>

#include "arith/attention.h"
#include "arith/elementary.h"
#include "arith/linear.h"
#include "arith/norm.h"
#include "arith/rope.h"
#include "base/check.h"

namespace samebit::test {

namespace {

using model::Role;

class Reference {
 public:
  Reference(const model::Model& model, std::span<const TokenId> tokens, kernels::CacheType cache_type)
      : model_(model),
        config_(model.config()),
        tokens_(tokens),
        count_(static_cast<uint32_t>(tokens.size())),
        cache_type_(cache_type) {}

  std::vector<float> Run() {
    Embed();
    for (uint32_t layer = 0; layer < config_.layers; ++layer) {
      AddBranch(Attention(layer, Normed(Role::kAttentionNorm, layer)), Role::kAttentionPostNorm, layer);
      AddBranch(FeedForward(layer, Normed(Role::kFfnNorm, layer)), Role::kFfnPostNorm, layer);
    }
    const bool untied = model_.Find(Role::kOutput, 0) != nullptr;
    return Linear(untied ? Role::kOutput : Role::kEmbedding, 0, Normed(Role::kOutputNorm, 0));
  }

 private:
  std::vector<float> Vector(Role role, uint32_t layer) const {
    const model::Tensor* tensor = model_.Find(role, layer);
    if (tensor == nullptr) return {};
    std::vector<float> values(tensor->rows * tensor->columns);
    arith::Dequantize(tensor->type, tensor->bytes.data(), values.size(), values.data());
    return values;
  }

  std::vector<float> Norm(Role role, uint32_t layer) const {
    std::vector<float> weights = Vector(role, layer);
    if (model_.norms_add_one())
      for (float& weight : weights) weight = 1.0f + weight;
    return weights;
  }

  std::vector<float> Linear(Role role, uint32_t layer, const std::vector<float>& x, uint32_t unit = 32) const {
    const model::Tensor& tensor = *model_.Find(role, layer);
    const auto rows = static_cast<uint32_t>(tensor.rows), columns = static_cast<uint32_t>(tensor.columns);
    std::vector<float> y(size_t{count_} * rows);
    const auto tree = arith::MakeTree(arith::LinearTreeShape(tensor.type, columns, unit));
    CHECK(arith::LinearReference({tensor.type, rows, columns, tensor.bytes.data()}, tree, x.data(), count_, y.data()));
    return y;
  }

  void Embed() {
    const model::Tensor& tensor = *model_.Find(Role::kEmbedding, 0);
    const uint64_t row_bytes = arith::StoredBytes(tensor.type, config_.width);
    x_.resize(size_t{count_} * config_.width);
    for (uint32_t t = 0; t < count_; ++t)
      arith::Dequantize(tensor.type, tensor.bytes.data() + row_bytes * static_cast<uint64_t>(tokens_[t]), config_.width,
                        &x_[size_t{t} * config_.width]);
    for (float& value : x_) value = value * config_.embedding_scale;
  }

  std::vector<float> Normed(Role role, uint32_t layer) const {
    std::vector<float> out(x_.size());
    NormRows(x_, Norm(role, layer), out);
    return out;
  }

  void NormRows(const std::vector<float>& x, const std::vector<float>& weights, std::vector<float>& out) const {
    const size_t width = weights.size();
    for (size_t at = 0; at < x.size(); at += width)
      CHECK(arith::RmsNorm(&x[at], weights.data(), static_cast<uint32_t>(width), config_.norm_epsilon, &out[at]));
  }

  void AddBranch(std::vector<float> branch, Role post_norm, uint32_t layer) {
    if (config_.post_norms) NormRows(branch, Norm(post_norm, layer), branch);
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = x_[i] + branch[i];
  }

  // Queries or keys: projected, brought to half-split order, with bias and norm, rotated.
  std::vector<float> Heads(Role matrix, Role bias_role, Role norm_role, uint32_t layer, uint32_t heads,
                           const std::vector<float>& input) const {
    const uint32_t size = config_.head_size, columns = heads * size;
    std::vector<float> y = Linear(matrix, layer, input);
    std::vector<float> bias = Vector(bias_role, layer);
    if (model_.rope_layout() == model::RopeLayout::kInterleaved) {
      for (uint32_t t = 0; t < count_; ++t) ToHalfSplit(&y[size_t{t} * columns], columns);
      if (!bias.empty()) ToHalfSplit(bias.data(), columns);
    }
    for (size_t i = 0; !bias.empty() && i < y.size(); ++i) y[i] = y[i] + bias[i % columns];
    const std::vector<float> norm = Norm(norm_role, layer);
    if (!norm.empty()) NormRows(y, norm, y);

    const bool local = config_.layer_is_local[layer];
    const auto frequencies =
        local ? arith::RopeFrequencies(config_.rope_base_local, size, {})
              : arith::RopeFrequencies(config_.rope_base, size, Scale(), config_.rope_frequency_factors);
    std::vector<float> cosines(size / 2), sines(size / 2);
    for (uint32_t t = 0; t < count_; ++t) {
      arith::RopeAngles(frequencies, t, cosines.data(), sines.data());
      for (uint32_t head = 0; head < heads; ++head)
        arith::ApplyRope(&y[size_t{t} * columns + head * size], size, cosines.data(), sines.data());
    }
    return y;
  }

  void ToHalfSplit(float* row, uint32_t columns) const {
    const uint32_t size = config_.head_size;
    const std::vector<float> stored(row, row + columns);
    for (uint32_t head = 0; head < columns; head += size) {
      for (uint32_t i = 0; i < size / 2; ++i) {
        row[head + i] = stored[head + 2 * i];
        row[head + size / 2 + i] = stored[head + 2 * i + 1];
      }
    }
  }

  arith::RopeScale Scale() const {
    const model::RopeScaling& scaling = config_.rope_scaling;
    arith::RopeScale scale{arith::RopeScale::Kind::kNone, scaling.factor, scaling.low_frequency_factor,
                           scaling.high_frequency_factor, static_cast<double>(scaling.original_context)};
    if (scaling.kind == model::RopeScaling::Kind::kLinear) scale.kind = arith::RopeScale::Kind::kLinear;
    if (scaling.kind == model::RopeScaling::Kind::kLlama3) scale.kind = arith::RopeScale::Kind::kLlama3;
    return scale;
  }

  // Keys or values of one KV head as they are read back from a cache, [tokens][head_size].
  std::vector<float> Cached(const std::vector<float>& rows, uint32_t kv_head) const {
    const uint32_t size = config_.head_size, columns = config_.kv_heads * size;
    std::vector<float> cached;
    for (uint32_t t = 0; t < count_; ++t) {
      for (uint32_t d = 0; d < size; ++d) {
        const float value = rows[size_t{t} * columns + kv_head * size + d];
        cached.push_back(cache_type_ == kernels::CacheType::kF16 ? arith::F16ToF32(arith::F32ToF16(value)) : value);
      }
    }
    return cached;
  }

  std::vector<float> Attention(uint32_t layer, const std::vector<float>& input) const {
    const uint32_t size = config_.head_size, columns = config_.heads * size;
    std::vector<float> queries = Heads(Role::kQuery, Role::kQueryBias, Role::kQueryNorm, layer, config_.heads, input);
    for (float& value : queries) value = value * config_.attention_scale;
    const std::vector<float> keys = Heads(Role::kKey, Role::kKeyBias, Role::kKeyNorm, layer, config_.kv_heads, input);
    std::vector<float> values = Linear(Role::kValue, layer, input);
    const std::vector<float> bias = Vector(Role::kValueBias, layer);
    for (size_t i = 0; !bias.empty() && i < values.size(); ++i) values[i] = values[i] + bias[i % bias.size()];

    std::vector<float> out(queries.size());
    const uint32_t window = config_.layer_is_local[layer] ? config_.sliding_window : 0;
    for (uint32_t kv_head = 0; kv_head < config_.kv_heads; ++kv_head) {
      const std::vector<float> cached_keys = Cached(keys, kv_head), cached_values = Cached(values, kv_head);
      const uint32_t group = config_.heads / config_.kv_heads;
      for (uint32_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        for (uint32_t t = 0; t < count_; ++t) {
          const size_t at = size_t{t} * columns + head * size;
          AttendOne(&queries[at], cached_keys, cached_values, t, window, &out[at]);
        }
      }
    }
    return Linear(Role::kAttentionOutput, layer, out, size);
  }

  void AttendOne(const float* query, const std::vector<float>& keys, const std::vector<float>& values,
                 uint32_t position, uint32_t window, float* out) const {
    constexpr uint32_t kSplit = arith::kAttentionSplitKeys;
    const uint32_t size = config_.head_size;
    const uint32_t first = window != 0 && position + 1 > window ? position + 1 - window : 0;
    std::vector<float> running_out(size), next_out(size);
    arith::AttentionPart running{0, 0, running_out.data()}, next{0, 0, next_out.data()};
    for (uint32_t split = first / kSplit; split <= position / kSplit; ++split) {
      const uint32_t base = split * kSplit;
      const uint32_t begin = std::max(first, base) - base, end = std::min(position + 1, base + kSplit) - base;
      const size_t at = size_t{base} * size;
      arith::AttentionPart* part = split == first / kSplit ? &running : &next;
      arith::AttentionSplit(query, size, &keys[at], &values[at], begin, end, part);
      if (part == &next) arith::MergeAttention(&running, next, size);
    }
    arith::FinishAttention(running, size, out);
  }

  std::vector<float> FeedForward(uint32_t layer, const std::vector<float>& input) const {
    std::vector<float> hidden = Linear(Role::kFfnGate, layer, input);
    const std::vector<float> up = Linear(Role::kFfnUp, layer, input);
    const bool silu = config_.activation == model::Activation::kSilu;
    for (size_t i = 0; i < hidden.size(); ++i)
      hidden[i] = (silu ? arith::Silu(hidden[i]) : arith::GeluTanh(hidden[i])) * up[i];
    return Linear(Role::kFfnDown, layer, hidden);
  }

  const model::Model& model_;
  const model::ModelConfig& config_;
  std::span<const TokenId> tokens_;
  uint32_t count_;
  kernels::CacheType cache_type_;
  std::vector<float> x_;  // [tokens, width], the residual
};

}  // namespace

std::vector<float> ReferenceForward(const model::Model& model, std::span<const TokenId> tokens,
                                    kernels::CacheType cache_type) {
  arith::EnterFloatEnvironment();
  return Reference(model, tokens, cache_type).Run();
}

}  // namespace samebit::test
