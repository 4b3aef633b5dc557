#include "model/loaded_model.h"
#include "model/model.h"
#include "world/file.h"

namespace samebit::model {

Result<std::unique_ptr<Model>> Open(const std::string& path) {
  switch (world::KindOf(path)) {
    case world::PathKind::kFile: return OpenGguf(path);
    case world::PathKind::kFolder: return OpenHuggingFace(path);
    case world::PathKind::kAbsent:
      return Error{ErrorCode::kNotFound, path + ": expected a .gguf file or a Hugging Face folder, found nothing"};
    case world::PathKind::kOther: break;
  }
  return Error{ErrorCode::kIo, path + ": expected a .gguf file or a Hugging Face folder, found something else"};
}

}  // namespace samebit::model
