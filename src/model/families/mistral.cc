// Mistral 7B and its kin: Llama with, in some versions, a sliding window on every layer.
//
// Hugging Face only: GGUF files of Mistral say "llama" and carry no window, so they load as that family.
#include "base/limits.h"
#include "model/family.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

Status ConfigureGguf(const Fields& fields, ModelConfig*) {
  return fields.Complain(ErrorCode::kUnsupported, "general.architecture", "'llama' for Mistral", "'mistral'");
}

Status ConfigureHuggingFace(const Fields& fields, ModelConfig* config) {
  // MistralConfig's own defaults.
  HuggingFaceDefaults defaults;
  defaults.kv_heads = 8;
  RETURN_IF_ERROR(ReadHuggingFaceShape(fields, defaults, config));
  RETURN_IF_ERROR(ReadRopeOfAllLayers(fields, 10000, config));
  // null or absent: no window. Every published config.json of the family says one or the other.
  if (!fields.Has("sliding_window")) return {};
  ASSIGN_OR_RETURN(config->sliding_window, fields.Dimension("sliding_window", limits::kContextMax));
  config->layer_is_local.assign(config->layers, true);
  return RefuseScaledWindow(fields, *config);
}

}  // namespace

const Family& MistralFamily() {
  static const Family family = {
      .name = "mistral",
      .gguf_architecture = nullptr,
      .hugging_face_types = {"mistral"},
      .names = LlamaNames({}),
      .gguf_rope_layout = RopeLayout::kInterleaved,
      .hugging_face_norms_add_one = false,
      .configure_gguf = ConfigureGguf,
      .configure_hugging_face = ConfigureHuggingFace,
  };
  return family;
}

}  // namespace samebit::model
