#include <gtest/gtest.h>

#include <set>

#include "model/family_shape.h"
#include "model/json_fields.h"

namespace samebit::model {
namespace {

ModelConfig Configure(const std::string& json) {
  ModelConfig config;
  const auto fields = JsonFields::Parse(json, "config.json");
  if (!fields.ok()) {
    ADD_FAILURE() << fields.error().message;
    return config;
  }
  const Family* family = FamilyOfHuggingFace((*fields)->Text("model_type").value());
  if (family == nullptr) {
    ADD_FAILURE() << "no such family";
    return config;
  }
  config.family = family->name;
  Status status = family->configure_hugging_face(**fields, &config);
  if (status.ok()) status = CheckConfig(config, "config.json");
  if (!status.ok()) ADD_FAILURE() << status.error().message;
  return config;
}

ErrorCode Refusal(const std::string& json) {
  ModelConfig config;
  const auto fields = JsonFields::Parse(json, "config.json");
  const Family* family = FamilyOfHuggingFace((*fields)->Text("model_type").value());
  Status status = family->configure_hugging_face(**fields, &config);
  if (status.ok()) status = CheckConfig(config, "config.json");
  return status.ok() ? ErrorCode::kInternal : status.error().code;
}

// Keys of a published file, with `more` in front.
std::string Json(const std::string& more) {
  return "{" + more +
         R"(,"hidden_size":64,"intermediate_size":160,"num_hidden_layers":7,"num_attention_heads":4,)"
         R"("num_key_value_heads":2,"head_dim":32,"vocab_size":512,"max_position_embeddings":256,"rms_norm_eps":1e-06})";
}

TEST(Families, every_family_has_a_name_of_its_own_and_each_role_once) {
  std::set<std::string> names;
  for (const Family* family : Families()) {
    EXPECT_TRUE(names.insert(family->name).second);
    std::set<Role> roles;
    std::set<std::string> tensor_names;
    for (const TensorName& name : family->names) {
      EXPECT_TRUE(roles.insert(name.role).second) << family->name << " " << RoleName(name.role);
      EXPECT_TRUE(tensor_names.insert(name.gguf).second) << name.gguf;
      EXPECT_TRUE(tensor_names.insert(name.hugging_face).second) << name.hugging_face;
    }
  }
  EXPECT_EQ(names.size(), 6u);
  EXPECT_EQ(GgufArchitectures(), "llama, qwen2, qwen3, gemma3");
  EXPECT_EQ(HuggingFaceTypes(), "llama, mistral, qwen2, qwen3, gemma3_text, gemma3, bert");
}

TEST(Families, mistral_takes_its_window_for_every_layer_and_null_for_none) {
  const ModelConfig windowed = Configure(Json(R"("model_type":"mistral","sliding_window":16,"rope_theta":1e6)"));
  EXPECT_EQ(windowed.sliding_window, 16u);
  EXPECT_EQ(windowed.layer_is_local, std::vector<bool>(7, true));
  EXPECT_EQ(windowed.rope_base_local, 1e6);
  const ModelConfig open = Configure(Json(R"("model_type":"mistral","sliding_window":null,"rope_theta":1e6)"));
  EXPECT_EQ(open.layer_is_local, std::vector<bool>(7, false));
  EXPECT_EQ(open.sliding_window, 0u);
}

TEST(Families, qwen2_has_biases_and_uses_its_window_only_when_switched_on) {
  const std::string window = R"("model_type":"qwen2","rope_theta":1e6,"sliding_window":16,"max_window_layers":5)";
  const ModelConfig off = Configure(Json(window + R"(,"use_sliding_window":false)"));
  EXPECT_TRUE(off.qkv_bias);
  EXPECT_EQ(off.sliding_window, 0u);
  EXPECT_EQ(off.layer_is_local, std::vector<bool>(7, false));
  const ModelConfig on = Configure(Json(window + R"(,"use_sliding_window":true)"));
  EXPECT_EQ(on.sliding_window, 16u);
  EXPECT_EQ(on.layer_is_local, (std::vector<bool>{false, false, false, false, false, true, true}));
}

TEST(Families, qwen3_norms_heads_and_has_no_bias) {
  const ModelConfig config = Configure(Json(R"("model_type":"qwen3","rope_theta":1e6)"));
  EXPECT_TRUE(config.qk_norm);
  EXPECT_FALSE(config.qkv_bias);
  EXPECT_EQ(Refusal(Json(R"("model_type":"qwen3","attention_bias":true)")), ErrorCode::kUnsupported);
}

TEST(Families, gemma3_reads_old_and_new_forms_alike) {
  const ModelConfig old_form = Configure(Json(
      R"("model_type":"gemma3_text","rope_theta":1e6,"rope_local_base_freq":1e4,"rope_scaling":{"type":"linear","factor":8},)"
      R"("sliding_window":16,"sliding_window_pattern":6,"query_pre_attn_scalar":64)"));
  const ModelConfig new_form = Configure(Json(
      R"("model_type":"gemma3_text","rope_parameters":{"full_attention":{"rope_type":"linear","factor":8,"rope_theta":1e6},)"
      R"("sliding_attention":{"rope_type":"default","rope_theta":1e4}},"sliding_window":16,"query_pre_attn_scalar":64,)"
      R"("layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention",)"
      R"("sliding_attention","full_attention","sliding_attention"])"));
  for (const ModelConfig* config : {&old_form, &new_form}) {
    EXPECT_EQ(config->rope_base, 1e6);
    EXPECT_EQ(config->rope_base_local, 1e4);
    EXPECT_EQ(config->rope_scaling.kind, RopeScaling::Kind::kLinear);
    EXPECT_EQ(config->rope_scaling.factor, 8);
    EXPECT_EQ(config->layer_is_local, (std::vector<bool>{true, true, true, true, true, false, true}));
    EXPECT_EQ(config->attention_scale, 0.125f);
    EXPECT_EQ(config->embedding_scale, 8.0f);
    EXPECT_TRUE(config->tied_embedding);
    EXPECT_EQ(config->activation, Activation::kGeluTanh);
  }
}

TEST(Families, gemma3_with_vision_takes_the_text_part_and_its_defaults) {
  const ModelConfig config = Configure(
      R"({"model_type":"gemma3","vision_config":{},"text_config":{"model_type":"gemma3_text","hidden_size":2560,)"
      R"("intermediate_size":10240,"num_hidden_layers":34,"rope_scaling":{"rope_type":"linear","factor":8.0},)"
      R"("sliding_window":1024}})");
  EXPECT_EQ(config.heads, 8u);
  EXPECT_EQ(config.kv_heads, 4u);
  EXPECT_EQ(config.head_size, 256u);
  EXPECT_EQ(config.vocabulary, 262208u);
  EXPECT_EQ(config.context, 131072u);
  EXPECT_EQ(config.rope_base, 1e6);
  EXPECT_EQ(config.attention_scale, 0.0625f);
}

TEST(Families, refuses_windows_and_layers_that_contradict) {
  EXPECT_EQ(Refusal(Json(R"("model_type":"gemma3_text","layer_types":["full_attention"])")), ErrorCode::kMalformed);
  EXPECT_EQ(Refusal(Json(R"("model_type":"gemma3_text","layer_types":["a","b","c","d","e","f","g"])")),
            ErrorCode::kUnsupported);
  EXPECT_EQ(Refusal(Json(R"("model_type":"gemma3_text","sliding_window":0)")), ErrorCode::kMalformed);
  EXPECT_EQ(Refusal(Json(R"("model_type":"gemma3_text","final_logit_softcapping":30.0)")), ErrorCode::kUnsupported);
  EXPECT_EQ(
      Refusal(Json(R"("model_type":"mistral","sliding_window":16,"rope_scaling":{"type":"linear","factor":2.0})")),
      ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace samebit::model
