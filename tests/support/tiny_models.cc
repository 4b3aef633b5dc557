#include "support/tiny_models.h"

#include <algorithm>
#include <map>

#include "support/expected_data.h"

namespace samebit::test {

namespace {

const std::string kFolder = std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/models/";

}  // namespace

const std::vector<TinyModel>& TinyModels() {
  static const std::vector<TinyModel> models = {
      {"llama-tied", false},    {"llama-tied", true},  {"llama-untied", false}, {"llama-rope3", true},
      {"mistral-window", true}, {"qwen2", false},      {"qwen2", true},         {"qwen3", false},
      {"qwen3", true},          {"gemma3", false},     {"gemma3", true},        {"llama-f16", false},
      {"llama-bf16", false},    {"llama-q4_0", false}, {"llama-q4_1", false},   {"llama-q5_0", false},
      {"llama-q5_1", false},    {"llama-q8_0", false}, {"llama-q4_k", false},   {"llama-q5_k", false},
      {"llama-q6_k", false}};
  return models;
}

std::string TestName(const TinyModel& model) {
  std::string name = model.name + (model.folder ? "_folder" : "_gguf");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::unique_ptr<model::Model> OpenTiny(const TinyModel& model) {
  return ValueOrStop(model::Open(kFolder + model.name + (model.folder ? "" : ".gguf")));
}

std::shared_ptr<const engine::Weights> Pack(const model::Model& model) {
  return ValueOrStop(engine::PackWeights(model, 1));
}

std::shared_ptr<const engine::Weights> PackTiny(const TinyModel& model) {
  static std::map<std::string, std::shared_ptr<const engine::Weights>> packed;
  std::shared_ptr<const engine::Weights>& entry = packed[TestName(model)];
  if (entry == nullptr) entry = Pack(*OpenTiny(model));
  return entry;
}

TinyExpected ReadTinyExpected(const std::string& name) {
  const boost::json::value json = ReadJsonOrStop(kFolder + name + ".expected.json");
  TinyExpected expected;
  expected.weight_type = json.at("weight_type").as_string().c_str();
  expected.prompt = NumbersOf<TokenId>(json.at("prompt_ids"));
  expected.vocabulary = json.at("vocabulary").to_number<uint32_t>();
  expected.positions = NumbersOf<uint32_t>(json.at("positions"));
  expected.greedy_ids = NumbersOf<TokenId>(json.at("greedy_ids"));
  expected.greedy_margins = NumbersOf<float>(json.at("greedy_margins"));
  const std::string bytes =
      ReadDigestedOrStop(kFolder + std::string(json.at("logits_file").as_string()), json.at("logits_sha256"));
  const size_t count = expected.positions.size() * expected.vocabulary;
  if (bytes.size() != count * sizeof(float)) StopTests(name + ": the file of logits has another size");
  expected.logits.resize(count);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(expected.logits.data()));
  return expected;
}

std::vector<std::string> ReadTinyManifest() {
  const boost::json::value json = ReadJsonOrStop(kFolder + "manifest.json");
  std::vector<std::string> names;
  for (const boost::json::value& name : json.at("models").as_array()) names.emplace_back(name.as_string());
  return names;
}

}  // namespace samebit::test
