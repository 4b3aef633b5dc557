// From a GGUF container to a checked model, without any file access: what Open() and the fuzzer share.
#pragma once

#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "model/family.h"
#include "model/gguf_reader.h"
#include "model/tensor_roles.h"

namespace samebit::model {

struct GgufModelParts {
  const Family* family = nullptr;
  ModelConfig config;
  RoleTable roles;  // over file.tensors
  TokenizerSpec tokenizer;
};

// Failures: kMalformed, kUnsupported, kTooLarge.
Result<GgufModelParts> ReadGgufModel(const GgufFile& file);

}  // namespace samebit::model
