#include "model/tensor_roles.h"

#include <algorithm>
#include <unordered_map>

#include "model/describe.h"
#include "model/weights_finite.h"

namespace samebit::model {
namespace {

struct Shape {
  uint64_t rows;
  uint64_t columns;
};

Shape ShapeOf(Role role, const ModelConfig& config) {
  const uint64_t query = uint64_t{config.heads} * config.head_size;
  const uint64_t key_value = uint64_t{config.kv_heads} * config.head_size;
  switch (role) {
    case Role::kEmbedding:
    case Role::kOutput:
      return {config.vocabulary, config.width};
    case Role::kQuery:
      return {query, config.width};
    case Role::kKey:
    case Role::kValue:
      return {key_value, config.width};
    case Role::kAttentionOutput:
      return {config.width, query};
    case Role::kFfnGate:
    case Role::kFfnUp:
      return {config.ffn_width, config.width};
    case Role::kFfnDown:
      return {config.width, config.ffn_width};
    case Role::kQueryBias:
      return {1, query};
    case Role::kKeyBias:
    case Role::kValueBias:
      return {1, key_value};
    case Role::kQueryNorm:
    case Role::kKeyNorm:
      return {1, config.head_size};
    case Role::kOutputNorm:
    case Role::kAttentionNorm:
    case Role::kAttentionPostNorm:
    case Role::kFfnNorm:
    case Role::kFfnPostNorm:
    case Role::kEmbeddingNorm:
    case Role::kEmbeddingNormBias:
    case Role::kAttentionOutputBias:
    case Role::kAttentionNormBias:
    case Role::kFfnDownBias:
    case Role::kFfnNormBias:
      return {1, config.width};
    case Role::kFfnUpBias:
      return {1, config.ffn_width};
    case Role::kTokenTypeEmbedding:
      return {config.token_types, config.width};
    case Role::kPositionEmbedding:
      return {config.positions, config.width};
  }
  return {0, 0};
}

bool IsWanted(Role role, const ModelConfig& config) {
  switch (role) {
    case Role::kOutput:
      return !config.tied_embedding;
    case Role::kQueryBias:
    case Role::kKeyBias:
    case Role::kValueBias:
      return config.qkv_bias;
    case Role::kQueryNorm:
    case Role::kKeyNorm:
      return config.qk_norm;
    case Role::kAttentionPostNorm:
    case Role::kFfnPostNorm:
      return config.post_norms;
    default:
      return true;
  }
}

std::string NameInFile(const TensorName& name, uint32_t layer, const RoleSources& sources) {
  if (sources.format == FileFormat::kHuggingFace && name.role == Role::kOutput) {
    return sources.output_prefix + name.hugging_face;
  }
  std::string text = sources.format == FileFormat::kGguf ? name.gguf : sources.body_prefix + name.hugging_face;
  const size_t place = text.find("{}");
  if (place != std::string::npos) text.replace(place, 2, std::to_string(layer));
  return text;
}

std::string ShapeText(uint64_t rows, uint64_t columns) {
  return "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
}

Status CheckTensor(const Tensor& tensor, Role role, const ModelConfig& config, const std::string& path) {
  const Shape shape = ShapeOf(role, config);
  const std::string place = "tensor " + Printable(tensor.name) + " (" + RoleName(role) + ")";
  if (tensor.rows != shape.rows || tensor.columns != shape.columns) {
    return FileError(ErrorCode::kMalformed, path, place, "rows and columns " + ShapeText(shape.rows, shape.columns),
                     ShapeText(tensor.rows, tensor.columns));
  }
  if (!IsVector(role)) return {};
  if (arith::Format(tensor.type).quantized) {
    return FileError(ErrorCode::kUnsupported, path, place, "F32, F16 or BF16",
                     std::string(arith::Format(tensor.type).name));
  }
  return CheckVectorFinite(tensor, path);
}

bool IsIgnored(const std::string& name, const ModelConfig& config, const RoleSources& sources) {
  for (const std::string& prefix : sources.ignored_prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  if (sources.format == FileFormat::kGguf) {
    // Read into rope_frequency_factors.
    return name == "rope_freqs.weight";
  }
  // A tied model's file may carry the output matrix a second time; old files carry the rotary table.
  return (config.tied_embedding && name == sources.output_prefix + "lm_head.weight") || name.ends_with(".inv_freq");
}

}  // namespace

const char* RoleName(Role role) {
  static constexpr const char* kNames[] = {
      "embedding",  "output",     "output norm",      "attention norm",      "query",
      "key",        "value",      "attention output", "query bias",          "key bias",
      "value bias", "query norm", "key norm",         "attention post norm", "ffn norm",
      "ffn gate",   "ffn up",     "ffn down",         "ffn post norm",       "token type embedding",
      "position embedding", "embedding norm", "embedding norm bias", "attention output bias", "attention norm bias",
      "ffn up bias", "ffn down bias", "ffn norm bias"};
  static_assert(std::size(kNames) == kRoleCount);
  return kNames[static_cast<uint32_t>(role)];
}

bool IsPerModel(Role role) {
  switch (role) {
    case Role::kEmbedding:
    case Role::kOutput:
    case Role::kOutputNorm:
    case Role::kTokenTypeEmbedding:
    case Role::kPositionEmbedding:
    case Role::kEmbeddingNorm:
    case Role::kEmbeddingNormBias:
      return true;
    default:
      return false;
  }
}

bool IsVector(Role role) {
  switch (role) {
    case Role::kEmbedding:
    case Role::kOutput:
    case Role::kQuery:
    case Role::kKey:
    case Role::kValue:
    case Role::kAttentionOutput:
    case Role::kFfnGate:
    case Role::kFfnUp:
    case Role::kFfnDown:
      return false;
    default:
      return true;
  }
}

Result<RoleTable> RoleTable::Resolve(const Family& family, const ModelConfig& config,
                                     const std::vector<Tensor>& tensors, const RoleSources& sources) {
  std::unordered_map<std::string_view, int32_t> by_name;
  for (size_t i = 0; i < tensors.size(); ++i) by_name.emplace(tensors[i].name, static_cast<int32_t>(i));
  std::vector<bool> used(tensors.size(), false);

  RoleTable table;
  table.layers_ = config.layers;
  table.index_.assign(size_t{config.layers} * kRoleCount, -1);
  for (const TensorName& name : family.names) {
    if (!IsWanted(name.role, config)) continue;
    const uint32_t copies = IsPerModel(name.role) ? 1 : config.layers;
    for (uint32_t layer = 0; layer < copies; ++layer) {
      const std::string wanted = NameInFile(name, layer, sources);
      const auto found = by_name.find(wanted);
      if (found == by_name.end()) {
        return FileError(ErrorCode::kMalformed, sources.path, "tensor table",
                         Printable(wanted) + " (" + RoleName(name.role) + ")", "no such tensor");
      }
      RETURN_IF_ERROR(CheckTensor(tensors[found->second], name.role, config, sources.path));
      used[found->second] = true;
      table.index_[size_t{layer} * kRoleCount + static_cast<uint32_t>(name.role)] = found->second;
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!used[i] && !IsIgnored(tensors[i].name, config, sources)) {
      return FileError(ErrorCode::kUnsupported, sources.path, "tensor " + Printable(tensors[i].name),
                       std::string("tensors that the ") + family.name + " family of this build uses", "another one");
    }
  }
  return table;
}

const Tensor* RoleTable::Find(const std::vector<Tensor>& tensors, Role role, uint32_t layer) const {
  if (IsPerModel(role)) layer = 0;
  if (layer >= layers_) return nullptr;
  const int32_t index = index_[size_t{layer} * kRoleCount + static_cast<uint32_t>(role)];
  return index < 0 ? nullptr : &tensors[index];
}

Status CheckVectorFinite(const Tensor& tensor, const std::string& path) {
  const std::optional<uint64_t> bad = FirstNonFinite(tensor);
  if (!bad) return {};
  return FileError(ErrorCode::kMalformed, path,
                   "tensor " + Printable(tensor.name) + ", element " + std::to_string(*bad), "a finite number",
                   "NaN or infinity");
}

}  // namespace samebit::model
