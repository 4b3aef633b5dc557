// The one implementation of Model: mapped files, a tensor table and a role table over them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/tensor_roles.h"
#include "world/file.h"

namespace samebit::model {

struct LoadedParts {
  ModelConfig config;
  TokenizerSpec tokenizer;
  CheckpointSampling sampling;
  std::string path;
  std::vector<world::MappedFile> files;   // hold the bytes of the tensors
  std::vector<std::string> digest_names;  // every file of the model, relative to digest_folder
  std::string digest_folder;              // "" or ending in "/"
  std::vector<Tensor> tensors;
  RoleTable roles;
  RopeLayout rope_layout = RopeLayout::kHalfSplit;
  bool norms_add_one = false;
};

std::unique_ptr<Model> MakeLoadedModel(LoadedParts parts);

// The two readers behind Open().
Result<std::unique_ptr<Model>> OpenGguf(const std::string& path);
// Numeric-only builds link a form that refuses (kUnsupported): they have no JSON reader.
Result<std::unique_ptr<Model>> OpenHuggingFace(const std::string& path);

// SHA-256 of files in a folder, sorted by name.
Result<std::vector<FileDigest>> DigestFiles(const std::string& folder, std::vector<std::string> names);

}  // namespace samebit::model
