#include <algorithm>
#include <array>

#include "model/family.h"

namespace samebit::model {

std::span<const Family* const> Families() {
  static const std::array<const Family*, 6> families = {&LlamaFamily(), &MistralFamily(), &Qwen2Family(),
                                                        &Qwen3Family(), &Gemma3Family(), &BertFamily()};
  return families;
}

const Family* FamilyOfGguf(std::string_view architecture) {
  for (const Family* family : Families()) {
    if (family->gguf_architecture != nullptr && architecture == family->gguf_architecture) return family;
  }
  return nullptr;
}

const Family* FamilyOfHuggingFace(std::string_view model_type) {
  for (const Family* family : Families()) {
    if (std::ranges::count(family->hugging_face_types, model_type) != 0) return family;
  }
  return nullptr;
}

std::string GgufArchitectures() {
  std::string list;
  for (const Family* family : Families()) {
    if (family->gguf_architecture != nullptr)
      list += (list.empty() ? "" : ", ") + std::string(family->gguf_architecture);
  }
  return list;
}

std::string HuggingFaceTypes() {
  std::string list;
  for (const Family* family : Families()) {
    for (const std::string_view type : family->hugging_face_types)
      list += (list.empty() ? "" : ", ") + std::string(type);
  }
  return list;
}

}  // namespace samebit::model
