// The weight files of a Hugging Face folder: model.safetensors, or the shards that model.safetensors.index.json names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "world/file.h"

namespace samebit::model {

struct HfWeights {
  std::vector<world::MappedFile> files;  // hold the tensors' bytes
  std::vector<std::string> names;        // of the files read, relative to the folder
  std::vector<Tensor> tensors;           // of all shards; names are unique
};

// folder ends in "/". A shard is a plain file name: nothing outside the folder is ever opened by name.
// Failures: kNotFound, kIo, kMalformed (a shard name with a path in it, a tensor that the index puts elsewhere or in
// two places), kUnsupported, kTooLarge.
Result<HfWeights> ReadHfWeights(const std::string& folder);

}  // namespace samebit::model
