#include "engine/weights.h"

#include <string>

#include "arith/rope.h"
#include "kernels/team.h"

namespace samebit::engine {

namespace {

using model::Role;

// Packs one model's tensors, one after the other, each by all threads.
class Packer {
 public:
  Packer(const model::Model& model, uint32_t threads, const std::function<void(uint64_t, uint64_t)>& progress)
      : model_(model), team_(threads), progress_(progress) {
    for (const model::Tensor& tensor : model.tensors()) bytes_total_ += tensor.bytes.size();
  }

  // An absent tensor leaves `out` empty: Open() has checked that every required one is there.
  void Matrix(Role role, uint32_t layer, uint32_t tree_unit, std::span<const uint32_t> row_order, LinearWeights* out) {
    const model::Tensor* tensor = model_.Find(role, layer);
    if (tensor == nullptr) return;
    const auto rows = static_cast<uint32_t>(tensor->rows);
    const auto columns = static_cast<uint32_t>(tensor->columns);
    out->matrix = kernels::PackedMatrix(tensor->type, rows, columns);
    out->shape = arith::LinearTreeShape(tensor->type, columns, tree_unit);
    out->tree = arith::MakeTree(out->shape);
    team_.Run([&](kernels::Worker& worker) {
      const kernels::Range panels = worker.Part(out->matrix.panels());
      out->matrix.PackPanels(tensor->bytes.data(), row_order, panels.begin, panels.end);
    });
    Done(*tensor);
  }

  Status Vector(Role role, uint32_t layer, std::span<const uint32_t> order, std::vector<float>* out) {
    const model::Tensor* tensor = model_.Find(role, layer);
    if (tensor == nullptr) return {};
    const uint64_t elements = tensor->rows * tensor->columns;
    std::vector<float> stored(elements);
    arith::Dequantize(tensor->type, tensor->bytes.data(), elements, stored.data());
    out->resize(elements);
    for (uint64_t i = 0; i < elements; ++i) {
      const float value = stored[order.empty() ? i : order[i]];
      if ((arith::BitsOf(value) & 0x7fffffffu) >= 0x7f800000u)
        return Error{ErrorCode::kNumeric, model_.path() + ": tensor " + tensor->name + ": element " +
                                              std::to_string(i) + " is not a finite number"};
      (*out)[i] = value;
    }
    Done(*tensor);
    return {};
  }

  Status Norm(Role role, uint32_t layer, std::vector<float>* out) {
    RETURN_IF_ERROR(Vector(role, layer, {}, out));
    if (model_.norms_add_one())
      for (float& weight : *out) weight = 1.0f + weight;
    return {};
  }

 private:
  void Done(const model::Tensor& tensor) {
    bytes_done_ += tensor.bytes.size();
    if (progress_) progress_(bytes_done_, bytes_total_);
  }

  const model::Model& model_;
  kernels::Team team_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  uint64_t bytes_done_ = 0;
  uint64_t bytes_total_ = 0;
};

// Output n of a half-split matrix is row HalfSplitOrder[n] of an interleaved one.
std::vector<uint32_t> HalfSplitOrder(uint32_t heads, uint32_t head_size) {
  std::vector<uint32_t> order;
  order.reserve(size_t{heads} * head_size);
  for (uint32_t head = 0; head < heads; ++head) {
    for (uint32_t i = 0; i < head_size / 2; ++i) order.push_back(head * head_size + 2 * i);
    for (uint32_t i = 0; i < head_size / 2; ++i) order.push_back(head * head_size + 2 * i + 1);
  }
  return order;
}

arith::RopeScale ScaleOf(const model::RopeScaling& scaling) {
  arith::RopeScale scale;
  if (scaling.kind == model::RopeScaling::Kind::kLinear) scale.kind = arith::RopeScale::Kind::kLinear;
  if (scaling.kind == model::RopeScaling::Kind::kLlama3) scale.kind = arith::RopeScale::Kind::kLlama3;
  scale.factor = scaling.factor;
  scale.low_frequency_factor = scaling.low_frequency_factor;
  scale.high_frequency_factor = scaling.high_frequency_factor;
  scale.original_context = scaling.original_context;
  return scale;
}

uint64_t BytesOf(const LinearWeights& weights) { return weights.matrix.bytes(); }
uint64_t BytesOf(const std::vector<float>& values) { return values.size() * sizeof(float); }

}  // namespace

uint64_t Weights::bytes() const {
  uint64_t total = BytesOf(embedding) + BytesOf(output) + BytesOf(output_norm);
  for (const LayerWeights& layer : layers) {
    for (const auto* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.gate, &layer.up, &layer.down})
      total += BytesOf(*matrix);
    for (const auto* vector :
         {&layer.attention_norm, &layer.query_norm, &layer.key_norm, &layer.attention_post_norm, &layer.ffn_norm,
          &layer.ffn_post_norm, &layer.query_bias, &layer.key_bias, &layer.value_bias})
      total += BytesOf(*vector);
  }
  return total;
}

Result<std::shared_ptr<const Weights>> PackWeights(const model::Model& model, uint32_t threads,
                                                   const std::function<void(uint64_t, uint64_t)>& progress) {
  auto weights = std::make_shared<Weights>();
  weights->config = model.config();
  const model::ModelConfig& config = weights->config;
  Packer packer(model, threads, progress);

  std::vector<uint32_t> query_order, key_order;
  if (model.rope_layout() == model::RopeLayout::kInterleaved) {
    query_order = HalfSplitOrder(config.heads, config.head_size);
    key_order = HalfSplitOrder(config.kv_heads, config.head_size);
  }

  constexpr uint32_t kUnit = 32;
  packer.Matrix(Role::kEmbedding, 0, kUnit, {}, &weights->embedding);
  packer.Matrix(Role::kOutput, 0, kUnit, {}, &weights->output);
  RETURN_IF_ERROR(packer.Norm(Role::kOutputNorm, 0, &weights->output_norm));
  weights->layers.resize(config.layers);
  for (uint32_t i = 0; i < config.layers; ++i) {
    LayerWeights& layer = weights->layers[i];
    layer.local = config.layer_is_local[i];
    RETURN_IF_ERROR(packer.Norm(Role::kAttentionNorm, i, &layer.attention_norm));
    RETURN_IF_ERROR(packer.Norm(Role::kQueryNorm, i, &layer.query_norm));
    RETURN_IF_ERROR(packer.Norm(Role::kKeyNorm, i, &layer.key_norm));
    RETURN_IF_ERROR(packer.Norm(Role::kAttentionPostNorm, i, &layer.attention_post_norm));
    RETURN_IF_ERROR(packer.Norm(Role::kFfnNorm, i, &layer.ffn_norm));
    RETURN_IF_ERROR(packer.Norm(Role::kFfnPostNorm, i, &layer.ffn_post_norm));
    RETURN_IF_ERROR(packer.Vector(Role::kQueryBias, i, query_order, &layer.query_bias));
    RETURN_IF_ERROR(packer.Vector(Role::kKeyBias, i, key_order, &layer.key_bias));
    RETURN_IF_ERROR(packer.Vector(Role::kValueBias, i, {}, &layer.value_bias));
    packer.Matrix(Role::kQuery, i, kUnit, query_order, &layer.query);
    packer.Matrix(Role::kKey, i, kUnit, key_order, &layer.key);
    packer.Matrix(Role::kValue, i, kUnit, {}, &layer.value);
    packer.Matrix(Role::kAttentionOutput, i, config.head_size, {}, &layer.attention_output);
    packer.Matrix(Role::kFfnGate, i, kUnit, {}, &layer.gate);
    packer.Matrix(Role::kFfnUp, i, kUnit, {}, &layer.up);
    packer.Matrix(Role::kFfnDown, i, kUnit, {}, &layer.down);
    model.ReleasePages();
  }
  model.ReleasePages();

  weights->rope_frequencies = arith::RopeFrequencies(config.rope_base, config.head_size, ScaleOf(config.rope_scaling),
                                                     config.rope_frequency_factors);
  weights->rope_frequencies_local = arith::RopeFrequencies(config.rope_base_local, config.head_size, {});
  return std::shared_ptr<const Weights>(std::move(weights));
}

}  // namespace samebit::engine
