// Gemma 3, text part: GELU gate, norms before and after both halves of a layer, RMSNorm on query and key heads, five
// local layers with a sliding window for each global one, each kind with a RoPE base of its own.
//
// Norms are stored as w in Hugging Face files and used as 1 + w; GGUF files store the sum. GGUF files do not say which
// layers are local nor the local RoPE base; every Gemma 3 has the values below.
#include <cmath>

#include "base/limits.h"
#include "model/family.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

constexpr uint32_t kPatternLength = 6;      // layers 5, 11, 17, ... are global
constexpr double kRopeBaseLocal = 10000;

// The embedding row is multiplied by sqrt(width). The training code holds that factor in the type of the embedding
// (25.25 instead of 25.298 for bfloat16 and width 640). We compute in binary32 and take the float32 reference's value,
// sqrt rounded once to binary32, whatever type the file stores, so that one model has one arithmetic.
float EmbeddingScale(uint32_t width) { return static_cast<float>(std::sqrt(static_cast<double>(width))); }

void SetPattern(uint64_t pattern_length, ModelConfig* config) {
  for (uint32_t layer = 0; layer < config->layers; ++layer) {
    config->layer_is_local[layer] = layer % pattern_length != pattern_length - 1;
  }
}

void SetFixedParts(ModelConfig* config) {
  config->activation = Activation::kGeluTanh;
  config->qk_norm = true;
  config->post_norms = true;
  config->embedding_scale = EmbeddingScale(config->width);
}

Status ConfigureGguf(const Fields& fields, ModelConfig* config) {
  RETURN_IF_ERROR(ReadGgufShape(fields, "gemma3", config));
  SetFixedParts(config);
  ASSIGN_OR_RETURN(config->rope_base, fields.Number("gemma3.rope.freq_base"));
  ASSIGN_OR_RETURN(config->rope_base_local, fields.NumberOr("gemma3.rope.freq_base_swa", kRopeBaseLocal));
  ASSIGN_OR_RETURN(config->sliding_window, fields.Dimension("gemma3.attention.sliding_window", limits::kContextMax));
  ASSIGN_OR_RETURN(const uint32_t pattern_length, fields.DimensionOr("gemma3.attention.sliding_window_pattern",
                                                                     limits::kLayersMax, kPatternLength));
  SetPattern(pattern_length, config);
  // query_pre_attn_scalar is not in the file. It is the head size in every Gemma 3 but the 27B, the only one with 62
  // layers, where it is width / heads (168, with a head size of 128).
  if (config->layers == 62) config->attention_scale = InverseSquareRoot(config->width / config->heads);
  return {};
}

Status ReadRopeOfBothKinds(const Fields& fields, ModelConfig* config) {
  if (fields.Has("rope_parameters")) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Fields> both, fields.Object("rope_parameters"));
    if (both->Has("full_attention")) {
      ASSIGN_OR_RETURN(const std::unique_ptr<Fields> global, both->Object("full_attention"));
      ASSIGN_OR_RETURN(const std::unique_ptr<Fields> local, both->Object("sliding_attention"));
      ASSIGN_OR_RETURN(const RopeSettings global_rope, ReadRopeParameters(*global, 1e6));
      ASSIGN_OR_RETURN(const RopeSettings local_rope, ReadRopeParameters(*local, kRopeBaseLocal));
      if (local_rope.scaling.kind != RopeScaling::Kind::kNone) {
        return local->Complain(ErrorCode::kUnsupported, "rope_type", "no rope scaling in layers with a window", "one");
      }
      config->rope_base = global_rope.base;
      config->rope_scaling = global_rope.scaling;
      config->rope_base_local = local_rope.base;
      return {};
    }
  }
  ASSIGN_OR_RETURN(const RopeSettings rope, ReadRope(fields, 1e6));
  config->rope_base = rope.base;
  config->rope_scaling = rope.scaling;
  ASSIGN_OR_RETURN(config->rope_base_local, fields.NumberOr("rope_local_base_freq", kRopeBaseLocal));
  return {};
}

Status ConfigureText(const Fields& fields, ModelConfig* config) {
  // Gemma3TextConfig's own defaults: the published files of the larger models leave these keys out.
  HuggingFaceDefaults defaults;
  defaults.heads = 8;
  defaults.kv_heads = 4;
  defaults.head_size = 256;
  defaults.vocabulary = 262208;
  defaults.context = 131072;
  defaults.tied_embedding = true;
  defaults.activation_key = "hidden_activation";
  defaults.activation = "gelu_pytorch_tanh";
  RETURN_IF_ERROR(ReadHuggingFaceShape(fields, defaults, config));
  SetFixedParts(config);
  RETURN_IF_ERROR(RefuseIfTrue(fields, "attention_bias", "attention without bias"));
  RETURN_IF_ERROR(RefuseIfTrue(fields, "use_bidirectional_attention", "causal attention"));
  RETURN_IF_ERROR(RefuseIfNonZero(fields, "final_logit_softcapping", "logits without soft capping"));
  RETURN_IF_ERROR(RefuseIfNonZero(fields, "attn_logit_softcapping", "attention without soft capping"));
  ASSIGN_OR_RETURN(const uint32_t scalar, fields.DimensionOr("query_pre_attn_scalar", 1 << 20, 256));
  config->attention_scale = InverseSquareRoot(scalar);
  ASSIGN_OR_RETURN(config->sliding_window, fields.DimensionOr("sliding_window", limits::kContextMax, 4096));
  if (fields.Has("layer_types")) {
    RETURN_IF_ERROR(ReadLayerTypes(fields, config));
  } else {
    const char* key = fields.Has("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern";
    ASSIGN_OR_RETURN(const uint32_t pattern_length, fields.DimensionOr(key, limits::kLayersMax, kPatternLength));
    SetPattern(pattern_length, config);
  }
  return ReadRopeOfBothKinds(fields, config);
}

// "gemma3" is the model with vision, whose text part stands in an object of its own.
Status ConfigureHuggingFace(const Fields& fields, ModelConfig* config) {
  if (!fields.Has("text_config")) return ConfigureText(fields, config);
  ASSIGN_OR_RETURN(const std::unique_ptr<Fields> text, fields.Object("text_config"));
  return ConfigureText(*text, config);
}

}  // namespace

const Family& Gemma3Family() {
  static const Family family = {
      .name = "gemma3",
      .gguf_architecture = "gemma3",
      .hugging_face_types = {"gemma3_text", "gemma3"},
      .names = DecoderNames({
          {Role::kFfnNorm, "blk.{}.ffn_norm.weight", "layers.{}.pre_feedforward_layernorm.weight"},
          {Role::kQueryNorm, "blk.{}.attn_q_norm.weight", "layers.{}.self_attn.q_norm.weight"},
          {Role::kKeyNorm, "blk.{}.attn_k_norm.weight", "layers.{}.self_attn.k_norm.weight"},
          {Role::kAttentionPostNorm, "blk.{}.post_attention_norm.weight", "layers.{}.post_attention_layernorm.weight"},
          {Role::kFfnPostNorm, "blk.{}.post_ffw_norm.weight", "layers.{}.post_feedforward_layernorm.weight"},
      }),
      .gguf_rope_layout = RopeLayout::kHalfSplit,
      .hugging_face_norms_add_one = true,
      .configure_gguf = ConfigureGguf,
      .configure_hugging_face = ConfigureHuggingFace,
  };
  return family;
}

}  // namespace samebit::model
