// Another copy of a model on disk, for the "redeployed" cell of a replay matrix. Removed with its owner.
#pragma once

#include <string>

#include "base/result.h"

namespace samebit::cli {

class ModelCopy {
 public:
  ModelCopy() = default;
  ~ModelCopy();
  ModelCopy(const ModelCopy&) = delete;
  ModelCopy& operator=(const ModelCopy&) = delete;

  // Copies a file or a folder's files into a new folder for temporary files (TMPDIR or /tmp) and returns the copy's
  // path. Failure: kIo (no space, for example). May be called again: the copy of before is removed.
  Result<std::string> Make(const std::string& model_path);

 private:
  void Remove();
  std::string folder_;
};

}  // namespace samebit::cli
