// What the families have in common: the names of a plain decoder's tensors and the keys of its shape.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/family.h"

namespace samebit::model {

// The names that Llama gave its tensors and that others took over, plus `more`.
std::vector<TensorName> DecoderNames(std::vector<TensorName> more);
// The same for a layer of two norms, as Llama has it: Hugging Face files call the second one post_attention_layernorm.
std::vector<TensorName> LlamaNames(std::vector<TensorName> more);

// The shape keys of GGUF metadata ("<architecture>.block_count" and so on), linear rope scaling, and a refusal of every
// key that would change the arithmetic in a way this build does not know.
Status ReadGgufShape(const Fields& fields, const std::string& architecture, ModelConfig* config);

// Values that a family's own code takes where config.json says nothing.
struct HuggingFaceDefaults {
  std::optional<uint32_t> heads, kv_heads, head_size, vocabulary, context;  // kv_heads: heads; head_size: width / heads
  double norm_epsilon = 1e-6;
  bool tied_embedding = false;
  const char* activation_key = "hidden_act";
  const char* activation = "silu";  // the only one the family may ask for
};

// The shape keys of config.json. Not RoPE, not windows.
Status ReadHuggingFaceShape(const Fields& fields, const HuggingFaceDefaults& defaults, ModelConfig* config);

// rope_theta and rope_scaling (old form) or rope_parameters (new form), for one kind of layer.
struct RopeSettings {
  double base = 10000;
  RopeScaling scaling;
};
Result<RopeSettings> ReadRope(const Fields& fields, double base_absent);
// ReadRope into the configuration of a family whose layers all rotate alike.
Status ReadRopeOfAllLayers(const Fields& fields, double base_absent, ModelConfig* config);
// kUnsupported if a scaling stands in config: no published model has one beside a window, so nothing says what it means.
Status RefuseScaledWindow(const Fields& fields, const ModelConfig& config);
// One rope_parameters object.
Result<RopeSettings> ReadRopeParameters(const Fields& parameters, double base_absent);

// "layer_types": one of "full_attention" and "sliding_attention" per layer.
Status ReadLayerTypes(const Fields& fields, ModelConfig* config);

// kUnsupported if the key holds true.
Status RefuseIfTrue(const Fields& fields, std::string_view key, const char* why);
// kUnsupported if the key holds a number other than 0.
Status RefuseIfNonZero(const Fields& fields, std::string_view key, const char* why);

// Bounds and relations of a finished configuration. file: for messages.
// Failures: kMalformed (contradictory), kUnsupported (well formed, but kernels need other sizes), kTooLarge.
Status CheckConfig(const ModelConfig& config, const std::string& file);

// 1 / sqrt(length), rounded once to binary32.
float InverseSquareRoot(uint32_t length);

}  // namespace samebit::model
