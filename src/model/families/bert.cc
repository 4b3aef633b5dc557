// BERT and the sentence encoders made of it: learned positions and token types, attention in both directions, LayerNorm
// after each residual add, biases everywhere, no gate.
//
// Hugging Face only. The files hold a pooler or a head for masked tokens as well; a text's vector passes through neither.
// GELU is the exact one ("gelu") or, by name, the tanh form. Relative positions change the scores and are refused.
#include "base/limits.h"
#include "model/describe.h"
#include "model/family.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

Status ConfigureGguf(const Fields& fields, ModelConfig*) {
  return fields.Complain(ErrorCode::kUnsupported, "general.architecture", "a Hugging Face folder for BERT", "'bert'");
}

Status ConfigureHuggingFace(const Fields& fields, ModelConfig* config) {
  config->kind = ModelKind::kEncoder;
  ASSIGN_OR_RETURN(const std::string activation, fields.TextOr("hidden_act", "gelu"));
  // BertConfig's own defaults.
  HuggingFaceDefaults defaults;
  defaults.heads = 12;
  defaults.vocabulary = 30522;
  defaults.context = 512;
  defaults.activation = activation.c_str();
  RETURN_IF_ERROR(ReadHuggingFaceShape(fields, defaults, config));
  if (activation == "gelu") {
    config->activation = Activation::kGeluErf;
  } else if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") {
    config->activation = Activation::kGeluTanh;
  } else {
    return fields.Complain(ErrorCode::kUnsupported, "hidden_act", "'gelu', 'gelu_new' or 'gelu_pytorch_tanh'",
                           Printable(activation));
  }
  ASSIGN_OR_RETURN(const std::string positions, fields.TextOr("position_embedding_type", "absolute"));
  if (positions != "absolute") {
    return fields.Complain(ErrorCode::kUnsupported, "position_embedding_type", "'absolute'", Printable(positions));
  }
  RETURN_IF_ERROR(RefuseIfTrue(fields, "is_decoder", "an encoder"));
  RETURN_IF_ERROR(RefuseIfTrue(fields, "add_cross_attention", "an encoder of one text"));
  ASSIGN_OR_RETURN(const double epsilon, fields.NumberOr("layer_norm_eps", 1e-12));
  config->norm_epsilon = static_cast<float>(epsilon);
  // Two equal numbers in a row have no variance: without an epsilon their norm would divide by 0.
  if (!(config->norm_epsilon > 0)) {
    return fields.Complain(ErrorCode::kMalformed, "layer_norm_eps", "a number over 0", "another");
  }
  if (config->kv_heads != config->heads || config->head_size * config->heads != config->width) {
    return fields.Complain(ErrorCode::kUnsupported, "num_attention_heads", "heads that divide the width, all with keys",
                           std::to_string(config->heads));
  }
  config->positions = config->context;
  ASSIGN_OR_RETURN(config->token_types, fields.DimensionOr("type_vocab_size", limits::kTokenTypesMax, 2));
  config->qkv_bias = true;
  return {};
}

}  // namespace

const Family& BertFamily() {
  static const Family family = {
      .name = "bert",
      .gguf_architecture = nullptr,
      .hugging_face_types = {"bert"},
      .names =
          {
              {Role::kEmbedding, "token_embd.weight", "embeddings.word_embeddings.weight"},
              {Role::kTokenTypeEmbedding, "token_types.weight", "embeddings.token_type_embeddings.weight"},
              {Role::kPositionEmbedding, "position_embd.weight", "embeddings.position_embeddings.weight"},
              {Role::kEmbeddingNorm, "token_embd_norm.weight", "embeddings.LayerNorm.weight"},
              {Role::kEmbeddingNormBias, "token_embd_norm.bias", "embeddings.LayerNorm.bias"},
              {Role::kQuery, "blk.{}.attn_q.weight", "encoder.layer.{}.attention.self.query.weight"},
              {Role::kQueryBias, "blk.{}.attn_q.bias", "encoder.layer.{}.attention.self.query.bias"},
              {Role::kKey, "blk.{}.attn_k.weight", "encoder.layer.{}.attention.self.key.weight"},
              {Role::kKeyBias, "blk.{}.attn_k.bias", "encoder.layer.{}.attention.self.key.bias"},
              {Role::kValue, "blk.{}.attn_v.weight", "encoder.layer.{}.attention.self.value.weight"},
              {Role::kValueBias, "blk.{}.attn_v.bias", "encoder.layer.{}.attention.self.value.bias"},
              {Role::kAttentionOutput, "blk.{}.attn_output.weight", "encoder.layer.{}.attention.output.dense.weight"},
              {Role::kAttentionOutputBias, "blk.{}.attn_output.bias", "encoder.layer.{}.attention.output.dense.bias"},
              {Role::kAttentionNorm, "blk.{}.attn_output_norm.weight",
               "encoder.layer.{}.attention.output.LayerNorm.weight"},
              {Role::kAttentionNormBias, "blk.{}.attn_output_norm.bias",
               "encoder.layer.{}.attention.output.LayerNorm.bias"},
              {Role::kFfnUp, "blk.{}.ffn_up.weight", "encoder.layer.{}.intermediate.dense.weight"},
              {Role::kFfnUpBias, "blk.{}.ffn_up.bias", "encoder.layer.{}.intermediate.dense.bias"},
              {Role::kFfnDown, "blk.{}.ffn_down.weight", "encoder.layer.{}.output.dense.weight"},
              {Role::kFfnDownBias, "blk.{}.ffn_down.bias", "encoder.layer.{}.output.dense.bias"},
              {Role::kFfnNorm, "blk.{}.layer_output_norm.weight", "encoder.layer.{}.output.LayerNorm.weight"},
              {Role::kFfnNormBias, "blk.{}.layer_output_norm.bias", "encoder.layer.{}.output.LayerNorm.bias"},
          },
      .gguf_rope_layout = RopeLayout::kHalfSplit,
      .hugging_face_norms_add_one = false,
      .configure_gguf = ConfigureGguf,
      .configure_hugging_face = ConfigureHuggingFace,
      .unused_prefixes = {"pooler.", "bert.pooler.", "cls."},
  };
  return family;
}

}  // namespace samebit::model
