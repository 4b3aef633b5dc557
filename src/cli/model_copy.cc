#include "cli/model_copy.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "world/environment.h"

namespace samebit::cli {

ModelCopy::~ModelCopy() { Remove(); }

void ModelCopy::Remove() {
  std::error_code ignored;  // a folder for temporary files: what cannot be removed now is the system's to clear
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  folder_.clear();
}

Result<std::string> ModelCopy::Make(const std::string& model_path) {
  namespace fs = std::filesystem;
  Remove();
  std::string pattern = world::EnvironmentVariable("TMPDIR").value_or("/tmp") + "/samebit-copy-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return Error{ErrorCode::kIo, pattern + ": the folder could not be made"};
  folder_ = pattern;
  // A path that ends in a slash has no file name of its own.
  const fs::path source =
      fs::path(model_path).has_filename() ? fs::path(model_path) : fs::path(model_path).parent_path();
  const fs::path target = fs::path(folder_) / source.filename();
  std::error_code failed;
  fs::copy(source, target, fs::copy_options::recursive, failed);
  if (failed) return Error{ErrorCode::kIo, target.string() + ": copying the model failed: " + failed.message()};
  return target.string();
}

}  // namespace samebit::cli
