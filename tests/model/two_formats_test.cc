// One model in both file formats has one configuration. The pairs are those of tests/data/models: NAME.gguf beside the
// folder NAME.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "model/family.h"
#include "model/model.h"
#include "support/print_config.h"

namespace samebit::model {

namespace {

namespace fs = std::filesystem;

ModelConfig ConfigOf(const fs::path& path) {
  const auto model = Open(path.string());
  if (!model.ok()) {
    ADD_FAILURE() << model.error().message;
    return {};
  }
  ModelConfig config = (*model)->config();
  config.name.clear();  // for people; config.json has none
  return config;
}

TEST(TwoFormats, gguf_and_config_json_of_one_model_give_equal_configurations) {
  std::set<std::string> compared;
  for (const fs::directory_entry& entry : fs::directory_iterator(SAMEBIT_SOURCE_DIR "/tests/data/models")) {
    const fs::path gguf = entry.path().string() + ".gguf";
    if (!entry.is_directory() || !fs::exists(gguf)) continue;
    const ModelConfig from_gguf = ConfigOf(gguf);
    EXPECT_EQ(from_gguf, ConfigOf(entry.path())) << entry.path();
    compared.insert(from_gguf.family);
  }
  for (const Family* family : Families()) {
    // Mistral's GGUF files call themselves llama, so there is no pair of one family.
    if (family->gguf_architecture == nullptr) continue;
    EXPECT_TRUE(compared.contains(family->name)) << family->name << " has no model in both formats";
  }
}

// The comparison above can fail: models of other shapes and of other families are not equal.
TEST(TwoFormats, configurations_of_different_models_are_not_equal) {
  const fs::path folder = SAMEBIT_SOURCE_DIR "/tests/data/models";
  EXPECT_NE(ConfigOf(folder / "qwen2.gguf"), ConfigOf(folder / "qwen3.gguf"));
  EXPECT_NE(ConfigOf(folder / "llama-tied.gguf"), ConfigOf(folder / "llama-untied.gguf"));
}

}  // namespace
}  // namespace samebit::model
