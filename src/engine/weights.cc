#include "engine/weights.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "arith/rope.h"
#include "kernels/team.h"

namespace samebit::engine {

namespace {

using model::Role;

constexpr Role kModelMatrices[] = {Role::kEmbedding, Role::kOutput};
constexpr Role kLayerMatrices[] = {Role::kQuery,   Role::kKey,    Role::kValue,  Role::kAttentionOutput,
                                   Role::kFfnGate, Role::kFfnUp, Role::kFfnDown};

LinearWeights& MatrixIn(Weights& weights, Role role, uint32_t layer) {
  switch (role) {
    case Role::kEmbedding:
      return weights.embedding;
    case Role::kOutput:
      return weights.output;
    case Role::kQuery:
      return weights.layers[layer].query;
    case Role::kKey:
      return weights.layers[layer].key;
    case Role::kValue:
      return weights.layers[layer].value;
    case Role::kAttentionOutput:
      return weights.layers[layer].attention_output;
    case Role::kFfnGate:
      return weights.layers[layer].gate;
    case Role::kFfnUp:
      return weights.layers[layer].up;
    case Role::kFfnDown:
      return weights.layers[layer].down;
    default:
      CHECK(false);
  }
}

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

// How the stored rows of queries and keys become outputs; empty: as stored.
struct RowOrders {
  std::vector<uint32_t> query, key;
  explicit RowOrders(const model::Model& model) {
    if (model.rope_layout() != model::RopeLayout::kInterleaved) return;
    query = HalfSplitOrder(model.config().heads, model.config().head_size);
    key = HalfSplitOrder(model.config().kv_heads, model.config().head_size);
  }
  std::span<const uint32_t> of(Role role) const {
    if (role == Role::kQuery || role == Role::kQueryBias) return query;
    if (role == Role::kKey || role == Role::kKeyBias) return key;
    return {};
  }
};

// Packs one model's matrices, one after the other, each by all threads.
class Packer {
 public:
  Packer(const model::Model& model, uint32_t threads, const std::function<void(uint64_t, uint64_t)>& progress)
      : model_(model), orders_(model), team_(threads), progress_(progress) {
    for (const MatrixRole& matrix : MatricesOf(model))
      bytes_total_ += model.Find(matrix.role, matrix.layer)->bytes.size();
  }

  kernels::PackedMatrix Pack(const MatrixRole& role) {
    const model::Tensor& tensor = *model_.Find(role.role, role.layer);
    kernels::PackedMatrix matrix(tensor.type, static_cast<uint32_t>(tensor.rows),
                                 static_cast<uint32_t>(tensor.columns));
    // The file's pages are given back piece by piece: a vocabulary's matrix can be most of a model.
    const uint64_t panel_bytes = std::max<uint64_t>(tensor.bytes.size() / matrix.panels(), 1);
    const auto piece = static_cast<uint32_t>(std::clamp<uint64_t>(kPieceBytes / panel_bytes, 1, matrix.panels()));
    for (uint32_t begin = 0; begin < matrix.panels(); begin += piece) {
      const uint32_t end = std::min(begin + piece, matrix.panels());
      PackPiece(matrix, tensor, orders_.of(role.role), begin, end);
      bytes_unreleased_ += panel_bytes * (end - begin);
      if (bytes_unreleased_ >= kPieceBytes) Release();
    }
    bytes_done_ += tensor.bytes.size();
    if (progress_) progress_(bytes_done_, bytes_total_);
    return matrix;
  }

 private:
  // Stored bytes in memory beside the packed ones.
  static constexpr uint64_t kPieceBytes = 8 << 20;
  // Panels that a thread takes at a time: another thread of the process may have a core for a while.
  static constexpr uint32_t kPanelsTaken = 4;

  void PackPiece(kernels::PackedMatrix& matrix, const model::Tensor& tensor, std::span<const uint32_t> row_order,
                 uint32_t begin, uint32_t end) {
    std::atomic<uint32_t> next{begin};
    team_.Run([&](kernels::Worker&) {
      for (uint32_t panel = next.fetch_add(kPanelsTaken); panel < end; panel = next.fetch_add(kPanelsTaken))
        matrix.PackPanels(tensor.bytes.data(), row_order, panel, std::min(panel + kPanelsTaken, end));
    });
  }

  void Release() {
    model_.ReleasePages();
    bytes_unreleased_ = 0;
  }

  const model::Model& model_;
  const RowOrders orders_;
  kernels::Team team_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  uint64_t bytes_unreleased_ = 0;
  uint64_t bytes_done_ = 0;
  uint64_t bytes_total_ = 0;
};

// Reads norms and biases.
class VectorReader {
 public:
  explicit VectorReader(const model::Model& model) : model_(model), orders_(model) {}

  // An absent tensor leaves `out` empty: Open() has checked that every required one is there.
  Status Vector(Role role, uint32_t layer, std::vector<float>* out) {
    const std::span<const uint32_t> order = orders_.of(role);
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
    return {};
  }

  Status Norm(Role role, uint32_t layer, std::vector<float>* out) {
    RETURN_IF_ERROR(Vector(role, layer, out));
    if (model_.norms_add_one())
      for (float& weight : *out) weight = 1.0f + weight;
    return {};
  }

 private:
  const model::Model& model_;
  const RowOrders orders_;
};

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
  uint64_t total = BytesOf(embedding) + BytesOf(output) + BytesOf(output_norm) + BytesOf(token_types) +
                   BytesOf(positions) + BytesOf(embedding_norm) + BytesOf(embedding_norm_bias);
  for (const LayerWeights& layer : layers) {
    for (const auto* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.gate, &layer.up, &layer.down})
      total += BytesOf(*matrix);
    for (const auto* vector :
         {&layer.attention_norm, &layer.query_norm, &layer.key_norm, &layer.attention_post_norm, &layer.ffn_norm,
          &layer.ffn_post_norm, &layer.query_bias, &layer.key_bias, &layer.value_bias, &layer.attention_output_bias,
          &layer.attention_norm_bias, &layer.up_bias, &layer.down_bias, &layer.ffn_norm_bias})
      total += BytesOf(*vector);
  }
  return total;
}

const LinearWeights& Weights::matrix(Role role, uint32_t layer) const {
  return MatrixIn(const_cast<Weights&>(*this), role, layer);
}

std::vector<MatrixRole> MatricesOf(const model::Model& model) {
  std::vector<MatrixRole> matrices;
  for (const Role role : kModelMatrices)
    if (model.Find(role, 0) != nullptr) matrices.push_back({role, 0});
  for (uint32_t layer = 0; layer < model.config().layers; ++layer)
    for (const Role role : kLayerMatrices)
      if (model.Find(role, layer) != nullptr) matrices.push_back({role, layer});
  return matrices;
}

Result<std::shared_ptr<const Weights>> AssembleWeights(
    const model::Model& model, const std::function<kernels::PackedMatrix(const MatrixRole&)>& matrix_of) {
  auto weights = std::make_shared<Weights>();
  weights->config = model.config();
  const model::ModelConfig& config = weights->config;
  weights->layers.resize(config.layers);
  VectorReader reader(model);
  RETURN_IF_ERROR(reader.Norm(Role::kOutputNorm, 0, &weights->output_norm));
  RETURN_IF_ERROR(reader.Vector(Role::kTokenTypeEmbedding, 0, &weights->token_types));
  RETURN_IF_ERROR(reader.Vector(Role::kPositionEmbedding, 0, &weights->positions));
  RETURN_IF_ERROR(reader.Vector(Role::kEmbeddingNorm, 0, &weights->embedding_norm));
  RETURN_IF_ERROR(reader.Vector(Role::kEmbeddingNormBias, 0, &weights->embedding_norm_bias));
  for (uint32_t i = 0; i < config.layers; ++i) {
    LayerWeights& layer = weights->layers[i];
    layer.local = config.layer_is_local[i];
    RETURN_IF_ERROR(reader.Norm(Role::kAttentionNorm, i, &layer.attention_norm));
    RETURN_IF_ERROR(reader.Norm(Role::kQueryNorm, i, &layer.query_norm));
    RETURN_IF_ERROR(reader.Norm(Role::kKeyNorm, i, &layer.key_norm));
    RETURN_IF_ERROR(reader.Norm(Role::kAttentionPostNorm, i, &layer.attention_post_norm));
    RETURN_IF_ERROR(reader.Norm(Role::kFfnNorm, i, &layer.ffn_norm));
    RETURN_IF_ERROR(reader.Norm(Role::kFfnPostNorm, i, &layer.ffn_post_norm));
    RETURN_IF_ERROR(reader.Vector(Role::kQueryBias, i, &layer.query_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kKeyBias, i, &layer.key_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kValueBias, i, &layer.value_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kAttentionOutputBias, i, &layer.attention_output_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kAttentionNormBias, i, &layer.attention_norm_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kFfnUpBias, i, &layer.up_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kFfnDownBias, i, &layer.down_bias));
    RETURN_IF_ERROR(reader.Vector(Role::kFfnNormBias, i, &layer.ffn_norm_bias));
  }
  for (const MatrixRole& matrix : MatricesOf(model)) {
    // Attention output adds up whole heads, so that ranks can own heads.
    const uint32_t tree_unit = matrix.role == Role::kAttentionOutput ? config.head_size : 32;
    LinearWeights& out = MatrixIn(*weights, matrix.role, matrix.layer);
    out.matrix = matrix_of(matrix);
    out.shape = arith::LinearTreeShape(out.matrix.type(), out.matrix.columns(), tree_unit);
    out.tree = arith::MakeTree(out.shape);
  }
  model.ReleasePages();

  weights->rope_frequencies = arith::RopeFrequencies(config.rope_base, config.head_size, ScaleOf(config.rope_scaling),
                                                     config.rope_frequency_factors);
  weights->rope_frequencies_local = arith::RopeFrequencies(config.rope_base_local, config.head_size, {});
  return std::shared_ptr<const Weights>(std::move(weights));
}

Result<std::shared_ptr<const Weights>> PackWeights(const model::Model& model, uint32_t threads,
                                                   const std::function<void(uint64_t, uint64_t)>& progress) {
  Packer packer(model, threads, progress);
  return AssembleWeights(model, [&](const MatrixRole& matrix) { return packer.Pack(matrix); });
}

}  // namespace samebit::engine
