#include <algorithm>

#include "model/describe.h"
#include "model/family_shape.h"
#include "model/hf_sentence.h"
#include "model/hf_tokenizer.h"
#include "model/hf_weights.h"
#include "model/json_fields.h"
#include "model/loaded_model.h"

namespace samebit::model {
namespace {

// Where the transformer stands inside the file: alone, or as the text part of a model with vision (two generations of
// names), or without the outer module, or beside the head for another task.
RoleSources SourcesOf(const Family& family, const std::vector<Tensor>& tensors, const std::string& folder) {
  static constexpr struct {
    const char* body;
    const char* output;
  } kPrefixes[] = {
      {"model.", ""}, {"language_model.model.", "language_model."}, {"model.language_model.", ""}, {"", ""}, {"bert.", ""}};
  RoleSources sources{FileFormat::kHuggingFace, folder, "model.", "", {}};
  sources.ignored_prefixes.assign(family.unused_prefixes.begin(), family.unused_prefixes.end());
  const auto embedding_name = std::ranges::find(family.names, Role::kEmbedding, &TensorName::role);
  for (const auto& prefix : kPrefixes) {
    const std::string embedding = std::string(prefix.body) + embedding_name->hugging_face;
    for (const Tensor& tensor : tensors) {
      if (tensor.name != embedding) continue;
      sources.body_prefix = prefix.body;
      sources.output_prefix = prefix.output;
      if (sources.body_prefix.find("language_model") != std::string::npos) {
        sources.ignored_prefixes.insert(sources.ignored_prefixes.end(),
                                        {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                         "model.multi_modal_projector."});
      }
      return sources;
    }
  }
  return sources;
}

// A text vector of an encoder passes through the tokens that frame the text; one without them would be another's.
Status CheckFrame(const ModelConfig& config, const TokenizerSpec& tokenizer, const std::string& folder) {
  if (config.kind != ModelKind::kEncoder || (tokenizer.add_bos && tokenizer.add_eos)) return {};
  return FileError(ErrorCode::kUnsupported, folder + "tokenizer.json", "post_processor",
                   "a first and a last token around every text", "none");
}

Result<const Family*> FamilyOf(const JsonFields& fields) {
  ASSIGN_OR_RETURN(const std::string type, fields.Text("model_type"));
  const Family* family = FamilyOfHuggingFace(type);
  if (family == nullptr) {
    return fields.Complain(ErrorCode::kUnsupported, "model_type", "one of " + HuggingFaceTypes(), Printable(type));
  }
  if (fields.Has("quantization_config")) {
    return fields.Complain(ErrorCode::kUnsupported, "quantization_config", "F32, F16 or BF16 weights",
                           "a quantization");
  }
  return family;
}

std::string LastPart(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder.substr(folder.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

Result<std::unique_ptr<Model>> OpenHuggingFace(const std::string& path) {
  const std::string folder = path.ends_with('/') ? path : path + "/";
  ASSIGN_OR_RETURN(const std::unique_ptr<JsonFields> fields, JsonFields::ReadFile(folder + "config.json"));
  ASSIGN_OR_RETURN(const Family* family, FamilyOf(*fields));
  LoadedParts parts;
  parts.config.family = family->name;
  parts.config.name = LastPart(path);
  RETURN_IF_ERROR(family->configure_hugging_face(*fields, &parts.config));
  RETURN_IF_ERROR(CheckConfig(parts.config, folder + "config.json"));
  ASSIGN_OR_RETURN(HfWeights weights, ReadHfWeights(folder));
  ASSIGN_OR_RETURN(parts.roles, RoleTable::Resolve(*family, parts.config, weights.tensors,
                                                   SourcesOf(*family, weights.tensors, folder)));
  ASSIGN_OR_RETURN(HfText text, ReadHfText(folder, *fields, parts.config.vocabulary));
  RETURN_IF_ERROR(CheckFrame(parts.config, text.tokenizer, folder));
  RETURN_IF_ERROR(ReadSentenceFiles(folder, &parts.config, &text.names));
  parts.tokenizer = std::move(text.tokenizer);
  parts.sampling = text.sampling;
  parts.path = path;
  parts.files = std::move(weights.files);
  parts.tensors = std::move(weights.tensors);
  parts.digest_folder = folder;
  parts.digest_names = {"config.json"};
  parts.digest_names.insert(parts.digest_names.end(), weights.names.begin(), weights.names.end());
  parts.digest_names.insert(parts.digest_names.end(), text.names.begin(), text.names.end());
  parts.rope_layout = RopeLayout::kHalfSplit;
  parts.norms_add_one = family->hugging_face_norms_add_one;
  return MakeLoadedModel(std::move(parts));
}

}  // namespace samebit::model
