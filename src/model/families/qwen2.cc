// Qwen 1.5, 2 and 2.5 (dense): Llama with a bias on Query, Key and Value. Rows are half-split in both file formats.
#include "model/families/qwen_window.h"
#include "model/family.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

Status ConfigureGguf(const Fields& fields, ModelConfig* config) {
  config->qkv_bias = true;
  return ReadGgufShape(fields, "qwen2", config);
}

Status ConfigureHuggingFace(const Fields& fields, ModelConfig* config) {
  RETURN_IF_ERROR(ReadHuggingFaceShape(fields, {}, config));
  config->qkv_bias = true;
  return ReadQwenRopeAndWindow(fields, config);
}

}  // namespace

const Family& Qwen2Family() {
  static const Family family = {
      .name = "qwen2",
      .gguf_architecture = "qwen2",
      .hugging_face_types = {"qwen2"},
      .names = LlamaNames({
          {Role::kQueryBias, "blk.{}.attn_q.bias", "layers.{}.self_attn.q_proj.bias"},
          {Role::kKeyBias, "blk.{}.attn_k.bias", "layers.{}.self_attn.k_proj.bias"},
          {Role::kValueBias, "blk.{}.attn_v.bias", "layers.{}.self_attn.v_proj.bias"},
      }),
      .gguf_rope_layout = RopeLayout::kHalfSplit,
      .hugging_face_norms_add_one = false,
      .configure_gguf = ConfigureGguf,
      .configure_hugging_face = ConfigureHuggingFace,
  };
  return family;
}

}  // namespace samebit::model
