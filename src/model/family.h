// What a model family is: how its configuration is read and what its tensors are called. One file per family under
// families/; how to add one: docs/howto/add-a-model-family.md.
//
// For: loading. Not for: computing; engine sees only ModelConfig and Role.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/fields.h"
#include "model/model.h"

namespace samebit::model {

// A tensor's name in both file formats. "{}" stands for the layer number; names without it belong to the whole model.
struct TensorName {
  Role role;
  const char* gguf;
  const char* hugging_face;
};

struct Family {
  const char* name;               // ModelConfig::family
  const char* gguf_architecture;  // general.architecture; nullptr: GGUF has no name of its own for this family
  std::vector<std::string_view> hugging_face_types;  // "model_type" of config.json
  std::vector<TensorName> names;

  RopeLayout gguf_rope_layout;          // Hugging Face files are always half-split
  bool hugging_face_norms_add_one;      // GGUF files store the sum

  // Fill every field of the configuration except `family`, and, for GGUF, `vocabulary` and `tied_embedding`, which the
  // tensors tell. Failures: kMalformed, kUnsupported, kTooLarge. CheckConfig runs afterwards.
  Status (*configure_gguf)(const Fields& fields, ModelConfig* config);
  Status (*configure_hugging_face)(const Fields& fields, ModelConfig* config);

  // Hugging Face files: parts that the model's vectors do not pass through (a head for another task).
  std::vector<std::string_view> unused_prefixes = {};
};

const Family& LlamaFamily();
const Family& MistralFamily();
const Family& Qwen2Family();
const Family& Qwen3Family();
const Family& Gemma3Family();
const Family& BertFamily();

// Every family of this build, in a fixed order.
std::span<const Family* const> Families();

// nullptr where no family answers to that name.
const Family* FamilyOfGguf(std::string_view architecture);
const Family* FamilyOfHuggingFace(std::string_view model_type);

// "llama, qwen2, ...", for messages.
std::string GgufArchitectures();
std::string HuggingFaceTypes();

}  // namespace samebit::model
