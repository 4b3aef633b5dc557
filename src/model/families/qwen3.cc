// Qwen 3 (dense): Llama with an RMSNorm on every query and key head and a head size of its own; no biases.
#include "model/families/qwen_window.h"
#include "model/family.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

Status ConfigureGguf(const Fields& fields, ModelConfig* config) {
  config->qk_norm = true;
  return ReadGgufShape(fields, "qwen3", config);
}

Status ConfigureHuggingFace(const Fields& fields, ModelConfig* config) {
  HuggingFaceDefaults defaults;
  defaults.head_size = 128;  // Qwen3Config's default, not width / heads
  RETURN_IF_ERROR(ReadHuggingFaceShape(fields, defaults, config));
  RETURN_IF_ERROR(RefuseIfTrue(fields, "attention_bias", "attention without bias"));
  config->qk_norm = true;
  return ReadQwenRopeAndWindow(fields, config);
}

}  // namespace

const Family& Qwen3Family() {
  static const Family family = {
      .name = "qwen3",
      .gguf_architecture = "qwen3",
      .hugging_face_types = {"qwen3"},
      .names = LlamaNames({
          {Role::kQueryNorm, "blk.{}.attn_q_norm.weight", "layers.{}.self_attn.q_norm.weight"},
          {Role::kKeyNorm, "blk.{}.attn_k_norm.weight", "layers.{}.self_attn.k_norm.weight"},
      }),
      .gguf_rope_layout = RopeLayout::kHalfSplit,
      .hugging_face_norms_add_one = false,
      .configure_gguf = ConfigureGguf,
      .configure_hugging_face = ConfigureHuggingFace,
  };
  return family;
}

}  // namespace samebit::model
