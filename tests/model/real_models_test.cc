// The two real models that the project is proved on: they open, quickly, with the configuration that their makers
// state. The files lie in models/ and are fetched by ./try and ./check.
#include <gtest/gtest.h>

#include <map>

#include "model/model.h"
#include "model/weights_finite.h"

namespace samebit::model {
namespace {

std::unique_ptr<Model> MustOpen(const std::string& name) {
  auto model = Open(std::string(SAMEBIT_SOURCE_DIR) + "/models/" + name);
  if (!model.ok()) {
    ADD_FAILURE() << model.error().message;
    return nullptr;
  }
  return std::move(*model);
}

std::map<std::string, int> TypeCounts(const Model& model) {
  std::map<std::string, int> counts;
  for (const Tensor& tensor : model.tensors()) ++counts[std::string(arith::Format(tensor.type).name)];
  return counts;
}

TEST(RealModels, smollm2_opens_with_its_configuration) {
  const auto model = MustOpen("smollm2-135m-instruct-q4_1.gguf");
  ASSERT_NE(model, nullptr);
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.family, "llama");
  EXPECT_EQ(config.layers, 30u);
  EXPECT_EQ(config.width, 576u);
  EXPECT_EQ(config.ffn_width, 1536u);
  EXPECT_EQ(config.heads, 9u);
  EXPECT_EQ(config.kv_heads, 3u);
  EXPECT_EQ(config.head_size, 64u);
  EXPECT_EQ(config.vocabulary, 49152u);
  EXPECT_EQ(config.context, 8192u);
  EXPECT_EQ(config.norm_epsilon, 1e-5f);
  EXPECT_EQ(config.activation, Activation::kSilu);
  EXPECT_FALSE(config.qkv_bias || config.qk_norm || config.post_norms);
  EXPECT_TRUE(config.tied_embedding);
  EXPECT_EQ(config.rope_base, 100000);
  EXPECT_EQ(config.rope_scaling.kind, RopeScaling::Kind::kNone);
  EXPECT_TRUE(config.rope_frequency_factors.empty());
  EXPECT_EQ(config.sliding_window, 0u);
  EXPECT_EQ(config.layer_is_local, std::vector<bool>(30, false));
  EXPECT_EQ(config.embedding_scale, 1.0f);
  EXPECT_EQ(config.attention_scale, 0.125f);
  EXPECT_EQ(model->rope_layout(), RopeLayout::kInterleaved);
  EXPECT_FALSE(model->norms_add_one());
  EXPECT_EQ(TypeCounts(*model), (std::map<std::string, int>{{"F32", 61}, {"Q4_1", 210}, {"Q8_0", 1}}));
  EXPECT_EQ(model->Find(Role::kEmbedding, 0)->type, arith::WeightType::kQ8_0);
  EXPECT_EQ(model->Find(Role::kFfnDown, 29)->columns, 1536u);
  EXPECT_EQ(model->Find(Role::kOutput, 0), nullptr);
}

TEST(RealModels, smollm2_has_its_tokenizer) {
  const auto model = MustOpen("smollm2-135m-instruct-q4_1.gguf");
  ASSERT_NE(model, nullptr);
  const TokenizerSpec& tokenizer = model->tokenizer();
  EXPECT_EQ(tokenizer.gguf_model, "gpt2");
  EXPECT_EQ(tokenizer.gguf_pre, "smollm");
  EXPECT_EQ(tokenizer.pieces.size(), 49152u);
  EXPECT_EQ(tokenizer.merges.size(), 48900u);
  EXPECT_EQ(tokenizer.pieces[1], "<|im_start|>");
  EXPECT_EQ(tokenizer.kinds[1], TokenKind::kControl);
  EXPECT_EQ(tokenizer.bos, std::optional<TokenId>(1));
  EXPECT_EQ(tokenizer.eos, std::optional<TokenId>(2));
  EXPECT_FALSE(tokenizer.add_bos);
  EXPECT_EQ(tokenizer.stop_ids, (std::vector<TokenId>{0, 2}));
  ASSERT_TRUE(tokenizer.chat_template.has_value());
  EXPECT_NE(tokenizer.chat_template->find("<|im_start|>"), std::string::npos);
}

TEST(RealModels, gemma3_opens_with_its_configuration) {
  const auto model = MustOpen("gemma-3-270m-q4_k_m.gguf");
  ASSERT_NE(model, nullptr);
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.family, "gemma3");
  EXPECT_EQ(config.layers, 18u);
  EXPECT_EQ(config.width, 640u);
  EXPECT_EQ(config.ffn_width, 2048u);
  EXPECT_EQ(config.heads, 4u);
  EXPECT_EQ(config.kv_heads, 1u);
  EXPECT_EQ(config.head_size, 256u);
  EXPECT_EQ(config.vocabulary, 262144u);
  EXPECT_EQ(config.context, 32768u);
  EXPECT_EQ(config.norm_epsilon, 1e-6f);
  EXPECT_EQ(config.activation, Activation::kGeluTanh);
  EXPECT_TRUE(config.qk_norm && config.post_norms && config.tied_embedding);
  EXPECT_EQ(config.rope_base, 1e6);
  EXPECT_EQ(config.rope_base_local, 1e4);
  EXPECT_EQ(config.sliding_window, 512u);
  for (uint32_t layer = 0; layer < 18; ++layer) {
    EXPECT_EQ(config.layer_is_local[layer], layer != 5 && layer != 11 && layer != 17) << layer;
  }
  EXPECT_EQ(config.embedding_scale, 25.298221588134766f);
  EXPECT_EQ(config.attention_scale, 0.0625f);
  EXPECT_EQ(model->rope_layout(), RopeLayout::kHalfSplit);
  EXPECT_FALSE(model->norms_add_one());
  EXPECT_EQ(TypeCounts(*model),
            (std::map<std::string, int>{{"F32", 109}, {"Q4_K", 27}, {"Q5_0", 81}, {"Q6_K", 9}, {"Q8_0", 10}}));
  ASSERT_NE(model->Find(Role::kFfnPostNorm, 17), nullptr);
  ASSERT_NE(model->Find(Role::kKeyNorm, 0), nullptr);
  EXPECT_EQ(model->Find(Role::kKeyNorm, 0)->columns, 256u);
}

TEST(RealModels, gemma3_has_its_tokenizer_and_no_template) {
  const auto model = MustOpen("gemma-3-270m-q4_k_m.gguf");
  ASSERT_NE(model, nullptr);
  const TokenizerSpec& tokenizer = model->tokenizer();
  EXPECT_EQ(tokenizer.gguf_model, "llama");
  EXPECT_EQ(tokenizer.pieces.size(), 262144u);
  EXPECT_EQ(tokenizer.scores.size(), 262144u);
  EXPECT_TRUE(tokenizer.merges.empty());
  EXPECT_TRUE(tokenizer.add_bos);
  EXPECT_FALSE(tokenizer.add_space_prefix);
  EXPECT_EQ(tokenizer.bos, std::optional<TokenId>(2));
  EXPECT_EQ(tokenizer.stop_ids, (std::vector<TokenId>{1, 106}));
  EXPECT_EQ(tokenizer.pieces[106], "<end_of_turn>");
  EXPECT_FALSE(tokenizer.chat_template.has_value());
}

TEST(RealModels, digests_are_those_of_the_published_files) {
  const std::pair<const char*, const char*> expected[] = {
      {"smollm2-135m-instruct-q4_1.gguf", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
      {"gemma-3-270m-q4_k_m.gguf", "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"}};
  for (const auto& [name, sha256] : expected) {
    const auto model = MustOpen(name);
    ASSERT_NE(model, nullptr);
    const auto digests = model->Digests();
    ASSERT_TRUE(digests.ok()) << digests.error().message;
    ASSERT_EQ(digests->size(), 1u);
    EXPECT_EQ((*digests)[0].path, name);
    EXPECT_EQ((*digests)[0].sha256.hex(), sha256);
  }
}

TEST(RealModels, all_weights_are_finite_and_stay_readable_after_their_pages_are_released) {
  for (const char* name : {"smollm2-135m-instruct-q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"}) {
    const auto model = MustOpen(name);
    ASSERT_NE(model, nullptr);
    EXPECT_TRUE(CheckWeightsFinite(*model).ok());
    model->ReleasePages();
    EXPECT_TRUE(CheckWeightsFinite(*model).ok());
  }
}

}  // namespace
}  // namespace samebit::model
