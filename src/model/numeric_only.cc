// The end that a numeric-only build (cross builds without a JSON library) leaves open. Chosen by CMakeLists.txt.
#include "model/loaded_model.h"

namespace samebit::model {

Result<std::unique_ptr<Model>> OpenHuggingFace(const std::string& path) {
  return Error{ErrorCode::kUnsupported, path + ": expected a .gguf file in this numeric-only build, found a folder"};
}

}  // namespace samebit::model
