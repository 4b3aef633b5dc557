#include "model/family_shape.h"

#include <cmath>
#include <utility>

#include "base/limits.h"
#include "model/describe.h"

namespace samebit::model {
namespace {

Status ReadGgufRope(const Fields& fields, const std::string& prefix, ModelConfig* config) {
  ASSIGN_OR_RETURN(config->rope_base, fields.NumberOr(prefix + "rope.freq_base", 10000));
  config->rope_base_local = config->rope_base;
  ASSIGN_OR_RETURN(const uint64_t rotated, fields.UnsignedOr(prefix + "rope.dimension_count", config->head_size));
  if (rotated != config->head_size) {
    return fields.Complain(ErrorCode::kUnsupported, prefix + "rope.dimension_count",
                           "a rotation of the whole head (" + std::to_string(config->head_size) + ")",
                           std::to_string(rotated));
  }
  ASSIGN_OR_RETURN(const std::string kind, fields.TextOr(prefix + "rope.scaling.type", "none"));
  if (kind == "linear") {
    config->rope_scaling.kind = RopeScaling::Kind::kLinear;
    ASSIGN_OR_RETURN(config->rope_scaling.factor, fields.Number(prefix + "rope.scaling.factor"));
  } else if (kind != "none") {
    return fields.Complain(ErrorCode::kUnsupported, prefix + "rope.scaling.type", "'none' or 'linear'",
                           Printable(kind));
  }
  return RefuseIfNonZero(fields, prefix + "rope.scale_linear", "a scale that is not given by rope.scaling");
}

// Keys that other architectures use to change the arithmetic. Files of the known ones should not have them; one that
// does would be computed wrongly if we looked away.
Status RefuseGgufExtras(const Fields& fields, const std::string& prefix) {
  for (const char* key : {"expert_count", "attention.scale", "logit_scale", "residual_scale", "embedding_scale",
                          "attn_logit_softcapping", "final_logit_softcapping"}) {
    RETURN_IF_ERROR(RefuseIfNonZero(fields, prefix + key, "a model without this feature"));
  }
  return {};
}

}  // namespace

std::vector<TensorName> DecoderNames(std::vector<TensorName> more) {
  std::vector<TensorName> names = {
      {Role::kEmbedding, "token_embd.weight", "embed_tokens.weight"},
      {Role::kOutputNorm, "output_norm.weight", "norm.weight"},
      {Role::kOutput, "output.weight", "lm_head.weight"},
      {Role::kAttentionNorm, "blk.{}.attn_norm.weight", "layers.{}.input_layernorm.weight"},
      {Role::kQuery, "blk.{}.attn_q.weight", "layers.{}.self_attn.q_proj.weight"},
      {Role::kKey, "blk.{}.attn_k.weight", "layers.{}.self_attn.k_proj.weight"},
      {Role::kValue, "blk.{}.attn_v.weight", "layers.{}.self_attn.v_proj.weight"},
      {Role::kAttentionOutput, "blk.{}.attn_output.weight", "layers.{}.self_attn.o_proj.weight"},
      {Role::kFfnGate, "blk.{}.ffn_gate.weight", "layers.{}.mlp.gate_proj.weight"},
      {Role::kFfnUp, "blk.{}.ffn_up.weight", "layers.{}.mlp.up_proj.weight"},
      {Role::kFfnDown, "blk.{}.ffn_down.weight", "layers.{}.mlp.down_proj.weight"},
  };
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::vector<TensorName> LlamaNames(std::vector<TensorName> more) {
  more.push_back({Role::kFfnNorm, "blk.{}.ffn_norm.weight", "layers.{}.post_attention_layernorm.weight"});
  return DecoderNames(std::move(more));
}

float InverseSquareRoot(uint32_t length) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(length))); }

Status RefuseIfTrue(const Fields& fields, std::string_view key, const char* why) {
  ASSIGN_OR_RETURN(const bool set, fields.BooleanOr(key, false));
  if (set) return fields.Complain(ErrorCode::kUnsupported, key, why, "true");
  return {};
}

Status RefuseIfNonZero(const Fields& fields, std::string_view key, const char* why) {
  if (!fields.Has(key)) return {};
  // The value may be a whole or a real number; whatever is neither is refused as well.
  const Result<uint64_t> whole = fields.Unsigned(key);
  if (whole.ok() && *whole == 0) return {};
  const Result<double> real = fields.Number(key);
  if (real.ok() && *real == 0) return {};
  return fields.Complain(ErrorCode::kUnsupported, key, why, "a value other than 0");
}

Status ReadGgufShape(const Fields& fields, const std::string& architecture, ModelConfig* config) {
  const std::string prefix = architecture + ".";
  ASSIGN_OR_RETURN(config->name, fields.TextOr("general.name", ""));
  ASSIGN_OR_RETURN(config->layers, fields.Dimension(prefix + "block_count", limits::kLayersMax));
  ASSIGN_OR_RETURN(config->width, fields.Dimension(prefix + "embedding_length", limits::kWidthMax));
  ASSIGN_OR_RETURN(config->ffn_width, fields.Dimension(prefix + "feed_forward_length", limits::kWidthMax));
  ASSIGN_OR_RETURN(config->heads, fields.Dimension(prefix + "attention.head_count", limits::kHeadsMax));
  ASSIGN_OR_RETURN(config->kv_heads,
                   fields.DimensionOr(prefix + "attention.head_count_kv", limits::kHeadsMax, config->heads));
  ASSIGN_OR_RETURN(config->head_size, fields.DimensionOr(prefix + "attention.key_length", limits::kHeadSizeMax,
                                                         config->width / config->heads));
  ASSIGN_OR_RETURN(const uint64_t value_length,
                   fields.UnsignedOr(prefix + "attention.value_length", config->head_size));
  if (value_length != config->head_size) {
    return fields.Complain(ErrorCode::kUnsupported, prefix + "attention.value_length",
                           "the key length (" + std::to_string(config->head_size) + ")", std::to_string(value_length));
  }
  ASSIGN_OR_RETURN(config->context, fields.Dimension(prefix + "context_length", limits::kContextMax));
  ASSIGN_OR_RETURN(const double epsilon, fields.Number(prefix + "attention.layer_norm_rms_epsilon"));
  config->norm_epsilon = static_cast<float>(epsilon);
  config->attention_scale = InverseSquareRoot(config->head_size);
  config->layer_is_local.assign(config->layers, false);
  RETURN_IF_ERROR(RefuseGgufExtras(fields, prefix));
  return ReadGgufRope(fields, prefix, config);
}

Status ReadHuggingFaceShape(const Fields& fields, const HuggingFaceDefaults& defaults, ModelConfig* config) {
  const auto dimension = [&](const char* key, uint32_t most, const std::optional<uint32_t>& absent) {
    return absent ? fields.DimensionOr(key, most, *absent) : fields.Dimension(key, most);
  };
  ASSIGN_OR_RETURN(config->layers, fields.Dimension("num_hidden_layers", limits::kLayersMax));
  ASSIGN_OR_RETURN(config->width, fields.Dimension("hidden_size", limits::kWidthMax));
  ASSIGN_OR_RETURN(config->ffn_width, fields.Dimension("intermediate_size", limits::kWidthMax));
  ASSIGN_OR_RETURN(config->heads, dimension("num_attention_heads", limits::kHeadsMax, defaults.heads));
  ASSIGN_OR_RETURN(config->kv_heads, dimension("num_key_value_heads", limits::kHeadsMax,
                                               defaults.kv_heads ? *defaults.kv_heads : config->heads));
  ASSIGN_OR_RETURN(config->head_size,
                   dimension("head_dim", limits::kHeadSizeMax,
                             defaults.head_size ? *defaults.head_size : config->width / config->heads));
  ASSIGN_OR_RETURN(config->vocabulary, dimension("vocab_size", limits::kVocabularyMax, defaults.vocabulary));
  ASSIGN_OR_RETURN(config->context, dimension("max_position_embeddings", limits::kContextMax, defaults.context));
  ASSIGN_OR_RETURN(const double epsilon, fields.NumberOr("rms_norm_eps", defaults.norm_epsilon));
  config->norm_epsilon = static_cast<float>(epsilon);
  ASSIGN_OR_RETURN(config->tied_embedding, fields.BooleanOr("tie_word_embeddings", defaults.tied_embedding));
  ASSIGN_OR_RETURN(const std::string activation, fields.TextOr(defaults.activation_key, defaults.activation));
  if (activation != defaults.activation) {
    return fields.Complain(ErrorCode::kUnsupported, defaults.activation_key,
                           "'" + std::string(defaults.activation) + "'", Printable(activation));
  }
  ASSIGN_OR_RETURN(const double rotated, fields.NumberOr("partial_rotary_factor", 1));
  if (rotated != 1) {
    return fields.Complain(ErrorCode::kUnsupported, "partial_rotary_factor", "a rotation of the whole head (1)",
                           "another factor");
  }
  RETURN_IF_ERROR(RefuseIfTrue(fields, "mlp_bias", "a feed-forward without bias"));
  config->attention_scale = InverseSquareRoot(config->head_size);
  config->layer_is_local.assign(config->layers, false);
  return {};
}

Result<RopeSettings> ReadRopeParameters(const Fields& parameters, double base_absent) {
  RopeSettings rope;
  ASSIGN_OR_RETURN(rope.base, parameters.NumberOr("rope_theta", base_absent));
  // "type" is the name of older files.
  const char* kind_key = parameters.Has("rope_type") ? "rope_type" : "type";
  ASSIGN_OR_RETURN(const std::string kind, parameters.TextOr(kind_key, "default"));
  if (kind == "default") return rope;
  if (kind != "linear" && kind != "llama3") {
    return parameters.Complain(ErrorCode::kUnsupported, kind_key, "'default', 'linear' or 'llama3'", Printable(kind));
  }
  ASSIGN_OR_RETURN(rope.scaling.factor, parameters.Number("factor"));
  rope.scaling.kind = RopeScaling::Kind::kLinear;
  if (kind == "llama3") {
    rope.scaling.kind = RopeScaling::Kind::kLlama3;
    ASSIGN_OR_RETURN(rope.scaling.low_frequency_factor, parameters.Number("low_freq_factor"));
    ASSIGN_OR_RETURN(rope.scaling.high_frequency_factor, parameters.Number("high_freq_factor"));
    ASSIGN_OR_RETURN(rope.scaling.original_context,
                     parameters.Dimension("original_max_position_embeddings", limits::kContextMax));
  }
  return rope;
}

Result<RopeSettings> ReadRope(const Fields& fields, double base_absent) {
  ASSIGN_OR_RETURN(const double base, fields.NumberOr("rope_theta", base_absent));
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!fields.Has(key)) continue;
    ASSIGN_OR_RETURN(const std::unique_ptr<Fields> parameters, fields.Object(key));
    return ReadRopeParameters(*parameters, base);
  }
  return RopeSettings{base, {}};
}

Status ReadRopeOfAllLayers(const Fields& fields, double base_absent, ModelConfig* config) {
  ASSIGN_OR_RETURN(const RopeSettings rope, ReadRope(fields, base_absent));
  config->rope_base = rope.base;
  config->rope_base_local = rope.base;
  config->rope_scaling = rope.scaling;
  return {};
}

Status RefuseScaledWindow(const Fields& fields, const ModelConfig& config) {
  if (config.rope_scaling.kind == RopeScaling::Kind::kNone) return {};
  return fields.Complain(ErrorCode::kUnsupported, "rope_scaling", "no rope scaling beside a sliding window", "both");
}

Status ReadLayerTypes(const Fields& fields, ModelConfig* config) {
  ASSIGN_OR_RETURN(const std::vector<std::string> types, fields.Texts("layer_types"));
  if (types.size() != config->layers) {
    return fields.Complain(ErrorCode::kMalformed, "layer_types", std::to_string(config->layers) + " entries",
                           std::to_string(types.size()));
  }
  for (uint32_t layer = 0; layer < config->layers; ++layer) {
    if (types[layer] != "sliding_attention" && types[layer] != "full_attention") {
      return fields.Complain(ErrorCode::kUnsupported, "layer_types", "'full_attention' or 'sliding_attention'",
                             Printable(types[layer]));
    }
    config->layer_is_local[layer] = types[layer] == "sliding_attention";
  }
  return {};
}

}  // namespace samebit::model
