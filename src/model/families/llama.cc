// Llama 1 to 3 and what copies its shape (SmolLM2, TinyLlama): pre-norm decoder, SiLU gate, grouped-query attention.
//
// GGUF stores the rows of Query and Key permuted so that a rotated pair lies side by side (interleaved); Hugging Face
// files keep the halves apart. Llama 3's frequency scaling stands in config.json as numbers; in GGUF it is the tensor
// rope_freqs.weight, which the loader reads into rope_frequency_factors. Mistral's GGUF files call themselves llama.
#include "model/family.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

Status ConfigureGguf(const Fields& fields, ModelConfig* config) {
  RETURN_IF_ERROR(ReadGgufShape(fields, "llama", config));
  // The usual readers of this architecture ignore a window; a file that states one is ambiguous.
  return RefuseIfNonZero(fields, "llama.attention.sliding_window", "no sliding window in a GGUF llama");
}

Status ConfigureHuggingFace(const Fields& fields, ModelConfig* config) {
  RETURN_IF_ERROR(ReadHuggingFaceShape(fields, {}, config));
  RETURN_IF_ERROR(RefuseIfTrue(fields, "attention_bias", "attention without bias"));
  return ReadRopeOfAllLayers(fields, 10000, config);
}

}  // namespace

const Family& LlamaFamily() {
  static const Family family = {
      .name = "llama",
      .gguf_architecture = "llama",
      .hugging_face_types = {"llama"},
      .names = LlamaNames({}),
      .gguf_rope_layout = RopeLayout::kInterleaved,
      .hugging_face_norms_add_one = false,
      .configure_gguf = ConfigureGguf,
      .configure_hugging_face = ConfigureHuggingFace,
  };
  return family;
}

}  // namespace samebit::model
