// The tiny random models of tests/data/models and the logits that they must give.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "engine/weights.h"
#include "model/model.h"

namespace samebit::test {

// A model on disk: NAME.gguf, or the Hugging Face folder NAME.
struct TinyModel {
  std::string name;
  bool folder = false;
};

// Every model in every format that it comes in.
const std::vector<TinyModel>& TinyModels();
// For test names: "llama_tied_gguf".
std::string TestName(const TinyModel& model);

// Opens or packs, and ends the test program with the error where that fails. Packed weights are kept and shared.
std::unique_ptr<model::Model> OpenTiny(const TinyModel& model);
std::shared_ptr<const engine::Weights> PackTiny(const TinyModel& model);
std::shared_ptr<const engine::Weights> Pack(const model::Model& model);

// NAME.expected.json and NAME.expected.bin.
struct TinyExpected {
  std::string weight_type;
  std::vector<TokenId> prompt;
  uint32_t vocabulary = 0;
  std::vector<uint32_t> positions;
  std::vector<float> logits;  // [positions, vocabulary]
  std::vector<TokenId> greedy_ids;
  std::vector<float> greedy_margins;
};
TinyExpected ReadTinyExpected(const std::string& name);
// The names of manifest.json.
std::vector<std::string> ReadTinyManifest();

}  // namespace samebit::test
