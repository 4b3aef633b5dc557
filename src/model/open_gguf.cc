#include <cstring>

#include "base/limits.h"
#include "model/describe.h"
#include "model/family_shape.h"
#include "model/gguf_fields.h"
#include "model/gguf_tokenizer.h"
#include "model/gguf_model.h"
#include "model/loaded_model.h"

namespace samebit::model {
namespace {

const Tensor* FindTensor(const GgufFile& file, std::string_view name) {
  for (const Tensor& tensor : file.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

// The vocabulary is what the embedding has rows for; a vocab_size key, where there is one, must agree.
Status ReadVocabulary(const GgufFile& file, const Fields& fields, const std::string& architecture,
                      ModelConfig* config) {
  const Tensor* embedding = FindTensor(file, "token_embd.weight");
  if (embedding == nullptr) {
    return FileError(ErrorCode::kMalformed, file.path, "tensor table", "'token_embd.weight' (embedding)",
                     "no such tensor");
  }
  if (embedding->rows > limits::kVocabularyMax) {
    return FileError(ErrorCode::kTooLarge, file.path, "tensor 'token_embd.weight'",
                     "at most " + std::to_string(limits::kVocabularyMax) + " rows", std::to_string(embedding->rows));
  }
  config->vocabulary = static_cast<uint32_t>(embedding->rows);
  ASSIGN_OR_RETURN(const uint64_t stated, fields.UnsignedOr(architecture + ".vocab_size", config->vocabulary));
  if (stated != config->vocabulary) {
    return fields.Complain(ErrorCode::kMalformed, architecture + ".vocab_size",
                           std::to_string(config->vocabulary) + ", the rows of the embedding", std::to_string(stated));
  }
  return {};
}

Status ReadFrequencyFactors(const GgufFile& file, ModelConfig* config) {
  const Tensor* factors = FindTensor(file, "rope_freqs.weight");
  if (factors == nullptr) return {};
  const uint32_t pairs = config->head_size / 2;
  if (factors->type != arith::WeightType::kF32 || factors->rows != 1 || factors->columns != pairs) {
    return FileError(ErrorCode::kMalformed, file.path, "tensor 'rope_freqs.weight'",
                     "F32 [" + std::to_string(pairs) + "]",
                     std::string(arith::Format(factors->type).name) + " [" + std::to_string(factors->rows) + ", " +
                         std::to_string(factors->columns) + "]");
  }
  if (config->rope_scaling.kind != RopeScaling::Kind::kNone) {
    return FileError(ErrorCode::kUnsupported, file.path, "tensor 'rope_freqs.weight'",
                     "no frequency factors beside rope.scaling", "both");
  }
  config->rope_frequency_factors.resize(pairs);
  std::memcpy(config->rope_frequency_factors.data(), factors->bytes.data(), pairs * sizeof(float));
  for (const float factor : config->rope_frequency_factors) {
    // The published factors reach from 1 to 32.
    if (!(factor >= 1 && factor <= 1e6f)) {
      return FileError(ErrorCode::kMalformed, file.path, "tensor 'rope_freqs.weight'",
                       "factors in [1, 1e6]", std::to_string(factor));
    }
  }
  return {};
}

}  // namespace

Result<GgufModelParts> ReadGgufModel(const GgufFile& file) {
  const GgufFields fields(file);
  ASSIGN_OR_RETURN(const std::string architecture, fields.Text("general.architecture"));
  const Family* family = FamilyOfGguf(architecture);
  if (family == nullptr) {
    return fields.Complain(ErrorCode::kUnsupported, "general.architecture", "one of " + GgufArchitectures(),
                           Printable(architecture));
  }
  GgufModelParts parts;
  parts.family = family;
  ModelConfig& config = parts.config;
  config.family = family->name;
  RETURN_IF_ERROR(family->configure_gguf(fields, &config));
  RETURN_IF_ERROR(ReadVocabulary(file, fields, architecture, &config));
  config.tied_embedding = FindTensor(file, "output.weight") == nullptr;
  RETURN_IF_ERROR(CheckConfig(config, file.path));
  RETURN_IF_ERROR(ReadFrequencyFactors(file, &config));
  const RoleSources sources{FileFormat::kGguf, file.path, "", "", {}};
  ASSIGN_OR_RETURN(parts.roles, RoleTable::Resolve(*family, config, file.tensors, sources));
  ASSIGN_OR_RETURN(parts.tokenizer, ReadGgufTokenizer(file, config.vocabulary));
  return parts;
}

Result<std::unique_ptr<Model>> OpenGguf(const std::string& path) {
  ASSIGN_OR_RETURN(world::MappedFile mapped, world::MappedFile::Open(path));
  ASSIGN_OR_RETURN(GgufFile file, ReadGguf(mapped.bytes(), path));
  ASSIGN_OR_RETURN(GgufModelParts read, ReadGgufModel(file));
  LoadedParts parts;
  parts.config = std::move(read.config);
  parts.tokenizer = std::move(read.tokenizer);
  parts.path = path;
  parts.files.push_back(std::move(mapped));
  const size_t name_start = path.rfind('/') + 1;  // npos + 1 is 0
  parts.digest_folder = path.substr(0, name_start);
  parts.digest_names = {path.substr(name_start)};
  parts.tensors = std::move(file.tensors);
  parts.roles = std::move(read.roles);
  parts.rope_layout = read.family->gguf_rope_layout;
  parts.norms_add_one = false;  // GGUF stores the sum
  return MakeLoadedModel(std::move(parts));
}

}  // namespace samebit::model
