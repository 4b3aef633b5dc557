// The two real models that the project is proved on: they open, quickly, with the configuration that their makers
// state. The files lie in models/ and are fetched by ./try and ./check.
#include <gtest/gtest.h>

#include <map>

#include "model/model.h"
#include "model/weights_finite.h"
#include "support/print_config.h"

namespace samebit::model {
namespace {

// Where a tensor stands, and what it must be.
struct ExpectedTensor {
  Role role;
  uint32_t layer;
  arith::WeightType type;
  uint64_t columns;
};

struct RealModel {
  const char* test_name;
  const char* file;
  const char* sha256;
  ModelConfig config;  // without its name
  RopeLayout rope_layout;
  std::map<std::string, int> type_counts;
  std::vector<ExpectedTensor> tensors;
  std::vector<Role> absent;

  const char* tokenizer;
  std::string pre_tokenizer;
  size_t scores, merges;
  std::vector<std::pair<TokenId, const char*>> control_pieces;
  TokenId bos;
  std::optional<TokenId> eos;
  std::vector<TokenId> stop_ids;
  bool add_bos;
  const char* template_holds;  // nullptr: the model has no chat template
};

RealModel SmolLm2() {
  ModelConfig config;
  config.family = "llama";
  config.layers = 30;
  config.width = 576;
  config.ffn_width = 1536;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_size = 64;
  config.vocabulary = 49152;
  config.context = 8192;
  config.norm_epsilon = 1e-5f;
  config.activation = Activation::kSilu;
  config.tied_embedding = true;
  config.rope_base = config.rope_base_local = 100000;
  config.layer_is_local.assign(30, false);
  config.attention_scale = 0.125f;
  return {.test_name = "smollm2",
          .file = "smollm2-135m-instruct-q4_1.gguf",
          .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
          .config = config,
          .rope_layout = RopeLayout::kInterleaved,
          .type_counts = {{"F32", 61}, {"Q4_1", 210}, {"Q8_0", 1}},
          .tensors = {{Role::kEmbedding, 0, arith::WeightType::kQ8_0, 576},
                      {Role::kFfnDown, 29, arith::WeightType::kQ4_1, 1536}},
          .absent = {Role::kOutput, Role::kQueryNorm, Role::kQueryBias},
          .tokenizer = "gpt2",
          .pre_tokenizer = "smollm",
          .scores = 0,
          .merges = 48900,
          .control_pieces = {{1, "<|im_start|>"}},
          .bos = 1,
          .eos = 2,
          .stop_ids = {0, 2},
          .add_bos = false,
          .template_holds = "<|im_start|>"};
}

RealModel Gemma3() {
  ModelConfig config;
  config.family = "gemma3";
  config.layers = 18;
  config.width = 640;
  config.ffn_width = 2048;
  config.heads = 4;
  config.kv_heads = 1;
  config.head_size = 256;
  config.vocabulary = 262144;
  config.context = 32768;
  config.norm_epsilon = 1e-6f;
  config.activation = Activation::kGeluTanh;
  config.qk_norm = config.post_norms = config.tied_embedding = true;
  config.rope_base = 1e6;
  config.rope_base_local = 1e4;
  config.sliding_window = 512;
  for (uint32_t layer = 0; layer < 18; ++layer)
    config.layer_is_local.push_back(layer != 5 && layer != 11 && layer != 17);
  config.embedding_scale = 25.298221588134766f;
  config.attention_scale = 0.0625f;
  return {.test_name = "gemma3",
          .file = "gemma-3-270m-q4_k_m.gguf",
          .sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
          .config = config,
          .rope_layout = RopeLayout::kHalfSplit,
          .type_counts = {{"F32", 109}, {"Q4_K", 27}, {"Q5_0", 81}, {"Q6_K", 9}, {"Q8_0", 10}},
          .tensors = {{Role::kKeyNorm, 0, arith::WeightType::kF32, 256},
                      {Role::kFfnPostNorm, 17, arith::WeightType::kF32, 640}},
          .absent = {Role::kOutput, Role::kQueryBias},
          .tokenizer = "llama",
          .pre_tokenizer = "default",
          .scores = 262144,
          .merges = 0,
          .control_pieces = {{106, "<end_of_turn>"}},
          .bos = 2,
          .eos = 1,
          .stop_ids = {1, 106},
          .add_bos = true,
          .template_holds = nullptr};
}

class RealModels : public testing::TestWithParam<RealModel> {
 protected:
  void SetUp() override {
    auto model = Open(std::string(SAMEBIT_SOURCE_DIR) + "/models/" + GetParam().file);
    ASSERT_TRUE(model.ok()) << model.error().message;
    model_ = std::move(*model);
  }

  std::unique_ptr<Model> model_;
};

TEST_P(RealModels, open_with_their_configuration) {
  ModelConfig config = model_->config();
  config.name.clear();
  EXPECT_EQ(config, GetParam().config);
  EXPECT_EQ(model_->rope_layout(), GetParam().rope_layout);
  EXPECT_FALSE(model_->norms_add_one());
}

TEST_P(RealModels, have_their_tensors) {
  std::map<std::string, int> counts;
  for (const Tensor& tensor : model_->tensors()) ++counts[std::string(arith::Format(tensor.type).name)];
  EXPECT_EQ(counts, GetParam().type_counts);
  for (const ExpectedTensor& expected : GetParam().tensors) {
    const Tensor* tensor = model_->Find(expected.role, expected.layer);
    ASSERT_NE(tensor, nullptr) << RoleName(expected.role);
    EXPECT_EQ(tensor->type, expected.type) << tensor->name;
    EXPECT_EQ(tensor->columns, expected.columns) << tensor->name;
  }
  for (const Role role : GetParam().absent) EXPECT_EQ(model_->Find(role, 0), nullptr) << RoleName(role);
}

TEST_P(RealModels, have_their_tokenizer) {
  const RealModel& expected = GetParam();
  const TokenizerSpec& tokenizer = model_->tokenizer();
  EXPECT_EQ(tokenizer.gguf_model, expected.tokenizer);
  EXPECT_EQ(tokenizer.gguf_pre, expected.pre_tokenizer);
  EXPECT_EQ(tokenizer.pieces.size(), expected.config.vocabulary);
  EXPECT_EQ(tokenizer.scores.size(), expected.scores);
  EXPECT_EQ(tokenizer.merges.size(), expected.merges);
  for (const auto& [id, piece] : expected.control_pieces) {
    EXPECT_EQ(tokenizer.pieces[id], piece);
    EXPECT_EQ(tokenizer.kinds[id], TokenKind::kControl) << piece;
  }
  EXPECT_EQ(tokenizer.bos, std::optional<TokenId>(expected.bos));
  EXPECT_EQ(tokenizer.eos, expected.eos);
  EXPECT_EQ(tokenizer.stop_ids, expected.stop_ids);
  EXPECT_EQ(tokenizer.add_bos, expected.add_bos);
  EXPECT_FALSE(tokenizer.add_bos && tokenizer.add_space_prefix);
  ASSERT_EQ(tokenizer.chat_template.has_value(), expected.template_holds != nullptr);
  if (expected.template_holds != nullptr) {
    EXPECT_NE(tokenizer.chat_template->find(expected.template_holds), std::string::npos);
  }
}

TEST_P(RealModels, have_the_digests_of_the_published_files) {
  const auto digests = model_->Digests();
  ASSERT_TRUE(digests.ok()) << digests.error().message;
  ASSERT_EQ(digests->size(), 1u);
  EXPECT_EQ((*digests)[0].path, GetParam().file);
  EXPECT_EQ((*digests)[0].sha256.hex(), GetParam().sha256);
}

TEST_P(RealModels, all_weights_are_finite_and_stay_readable_after_their_pages_are_released) {
  EXPECT_TRUE(CheckWeightsFinite(*model_).ok());
  model_->ReleasePages();
  EXPECT_TRUE(CheckWeightsFinite(*model_).ok());
}

INSTANTIATE_TEST_SUITE_P(both, RealModels, testing::Values(SmolLm2(), Gemma3()),
                         [](const testing::TestParamInfo<RealModel>& info) {
                           return std::string(info.param.test_name);
                         });

}  // namespace
}  // namespace samebit::model
