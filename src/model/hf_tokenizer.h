// tokenizer.json, tokenizer_config.json, generation_config.json and the chat template of a Hugging Face folder.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "model/json_fields.h"

namespace samebit::model {

struct HfText {
  TokenizerSpec tokenizer;
  CheckpointSampling sampling;
  std::vector<std::string> names;  // of the files read, relative to the folder
};

// folder ends in "/"; config is config.json; vocabulary: rows of the embedding.
// Failures: kNotFound (no tokenizer.json), kIo, kMalformed (an id outside the vocabulary, a value of another type),
// kUnsupported (several templates, none called "default"), kTooLarge.
Result<HfText> ReadHfText(const std::string& folder, const JsonFields& config, uint32_t vocabulary);

}  // namespace samebit::model
