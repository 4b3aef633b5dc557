// Hugging Face folders: what is read from each file, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "model/model.h"
#include "support/tiny_hf.h"

namespace samebit::model {
namespace {

using test::TinyHf;

constexpr ErrorCode kMalformed = ErrorCode::kMalformed;
constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;
constexpr ErrorCode kTooLarge = ErrorCode::kTooLarge;

void ExpectRefused(const TinyHf& folder, ErrorCode code, const std::string& part_of_message) {
  const auto model = Open(folder.Write());
  ASSERT_FALSE(model.ok()) << "expected a refusal with " << part_of_message;
  EXPECT_STREQ(ErrorCodeName(model.error().code), ErrorCodeName(code)) << model.error().message;
  EXPECT_NE(model.error().message.find(part_of_message), std::string::npos) << model.error().message;
}

std::unique_ptr<Model> MustOpen(const TinyHf& folder) {
  auto model = Open(folder.Write());
  if (!model.ok()) {
    ADD_FAILURE() << model.error().message;
    return nullptr;
  }
  return std::move(*model);
}

TEST(HfFolder, reads_a_plain_llama) {
  const TinyHf folder("plain");
  const auto model = MustOpen(folder);
  ASSERT_NE(model, nullptr);
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.family, "llama");
  EXPECT_EQ(config.head_size, 16u);
  EXPECT_EQ(config.vocabulary, 8u);
  EXPECT_EQ(config.norm_epsilon, 1e-5f);
  EXPECT_EQ(config.attention_scale, 0.25f);
  EXPECT_TRUE(config.tied_embedding);
  EXPECT_EQ(model->rope_layout(), RopeLayout::kHalfSplit);
  EXPECT_FALSE(model->norms_add_one());
  EXPECT_EQ(model->Find(Role::kOutput, 0), nullptr);
  ASSERT_NE(model->Find(Role::kQuery, 0), nullptr);
  EXPECT_EQ(model->Find(Role::kQuery, 1), nullptr);
  EXPECT_EQ(model->Find(Role::kQueryBias, 0), nullptr);
  const TokenizerSpec& tokenizer = model->tokenizer();
  EXPECT_EQ(tokenizer.tokenizer_json, folder.files.at("tokenizer.json"));
  EXPECT_EQ(tokenizer.bos, std::optional<TokenId>(1));
  EXPECT_EQ(tokenizer.eos, std::optional<TokenId>(2));
  EXPECT_FALSE(tokenizer.add_bos);
  EXPECT_EQ(tokenizer.stop_ids, (std::vector<TokenId>{0, 2}));
  EXPECT_FALSE(tokenizer.chat_template.has_value());
  EXPECT_FALSE(model->sampling().temperature.has_value());
  model->ReleasePages();
  float first;
  std::memcpy(&first, model->Find(Role::kQuery, 0)->bytes.data(), sizeof first);
  EXPECT_EQ(first, 0.5f);
}

TEST(HfFolder, reads_generation_config) {
  TinyHf folder("generation");
  folder.files["generation_config.json"] =
      R"({"temperature":0.7,"top_p":0.8,"top_k":20,"min_p":0,"repetition_penalty":1.05,"do_sample":true,)"
      R"("eos_token_id":[5,4],"pad_token_id":-1})";
  const auto model = MustOpen(folder);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->sampling().temperature, 0.7f);
  EXPECT_EQ(model->sampling().top_p, 0.8f);
  EXPECT_EQ(model->sampling().top_k, 20);
  EXPECT_EQ(model->sampling().min_p, 0.0f);
  EXPECT_EQ(model->sampling().repetition_penalty, 1.05f);
  EXPECT_EQ(model->sampling().do_sample, true);
  EXPECT_EQ(model->tokenizer().stop_ids, (std::vector<TokenId>{0, 2, 4, 5}));
  EXPECT_EQ(model->tokenizer().eos, std::optional<TokenId>(5));
  EXPECT_FALSE(model->tokenizer().pad.has_value());
}

TEST(HfFolder, reads_templates_in_every_form) {
  TinyHf folder("templates");
  folder.files["tokenizer_config.json"] = R"({"chat_template":"A","eos_token":{"content":"<|im_end|>"}})";
  EXPECT_EQ(MustOpen(folder)->tokenizer().chat_template, "A");
  folder.files["tokenizer_config.json"] =
      R"({"chat_template":[{"name":"tool_use","template":"T"},{"name":"default","template":"D"}]})";
  EXPECT_EQ(MustOpen(folder)->tokenizer().chat_template, "D");
  folder.files["tokenizer_config.json"] = R"({"chat_template":[{"name":"only","template":"O"}]})";
  EXPECT_EQ(MustOpen(folder)->tokenizer().chat_template, "O");
  folder.files["chat_template.jinja"] = "J";
  EXPECT_EQ(MustOpen(folder)->tokenizer().chat_template, "J");
  folder.files.erase("chat_template.jinja");
  folder.files["tokenizer_config.json"] =
      R"({"chat_template":[{"name":"a","template":"T"},{"name":"b","template":"D"}]})";
  ExpectRefused(folder, kUnsupported, "a template called 'default'");
  folder.files["tokenizer_config.json"] = R"({"chat_template":[5]})";
  ExpectRefused(folder, kMalformed, "chat_template");
  folder.files["tokenizer_config.json"] = R"({"chat_template":5})";
  ExpectRefused(folder, kMalformed, "chat_template");
  folder.files["tokenizer_config.json"] = R"({"chat_template":")" + std::string((1 << 20) + 1, 'x') + "\"}";
  ExpectRefused(folder, kTooLarge, "chat_template");
}

TEST(HfFolder, finds_bos_in_the_post_processor_and_obeys_the_configuration) {
  TinyHf folder("frame");
  folder.Replace(
      "tokenizer.json", R"("post_processor":null)",
      R"("post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"TemplateProcessing",)"
      R"("single":[{"SpecialToken":{"id":"<|im_start|>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}]}]})");
  EXPECT_TRUE(MustOpen(folder)->tokenizer().add_bos);
  EXPECT_FALSE(MustOpen(folder)->tokenizer().add_eos);
  folder.files["tokenizer_config.json"] = R"({"add_bos_token":false,"add_eos_token":true})";
  EXPECT_FALSE(MustOpen(folder)->tokenizer().add_bos);
  EXPECT_TRUE(MustOpen(folder)->tokenizer().add_eos);
  folder.files["tokenizer_config.json"] = R"({"add_bos_token":"yes"})";
  ExpectRefused(folder, kMalformed, "add_bos_token");
  folder.files["tokenizer_config.json"] = R"({"add_bos_token":true})";
  folder.Replace("config.json", R"("bos_token_id":1,)", "");
  folder.Replace("tokenizer.json", R"("id":"<|im_start|>","type_id")", R"("id":"<none>","type_id")");
  ExpectRefused(folder, kMalformed, "add_bos_token");
}

TEST(HfFolder, reads_both_forms_of_rope_scaling) {
  TinyHf folder("rope");
  folder.Replace("config.json", R"("rope_theta":10000.0)",
                 R"("rope_theta":500000.0,"rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,)"
                 R"("high_freq_factor":4.0,"original_max_position_embeddings":32})");
  const auto old_form = MustOpen(folder);
  folder.Replace("config.json", R"("rope_theta":500000.0,"rope_scaling":{)",
                 R"("rope_parameters":{"rope_theta":500000.0,)");
  const auto new_form = MustOpen(folder);
  for (const auto* model : {&old_form, &new_form}) {
    ASSERT_NE(*model, nullptr);
    EXPECT_EQ((*model)->config().rope_base, 500000);
    EXPECT_EQ((*model)->config().rope_scaling.kind, RopeScaling::Kind::kLlama3);
    EXPECT_EQ((*model)->config().rope_scaling.factor, 8);
    EXPECT_EQ((*model)->config().rope_scaling.original_context, 32u);
  }
  folder.Replace("config.json", "\"llama3\"", "\"yarn\"");
  ExpectRefused(folder, kUnsupported, "found 'yarn'");
  folder.Replace("config.json", "\"yarn\"", "\"linear\"");
  EXPECT_EQ(MustOpen(folder)->config().rope_scaling.kind, RopeScaling::Kind::kLinear);
  folder.Replace("config.json", "\"factor\":8.0", "\"factor\":0");
  ExpectRefused(folder, kMalformed, "rope scaling factor");
}

TEST(HfFolder, refuses_a_config_with_missing_keys_wrong_types_and_huge_numbers) {
  for (const char* key : {"model_type", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
                          "vocab_size", "max_position_embeddings"}) {
    TinyHf folder("keys");
    const std::string quoted = "\"" + std::string(key) + "\"";
    folder.Replace("config.json", quoted, "\"x\"");
    ExpectRefused(folder, kMalformed, std::string("key '") + key + "'");
    for (const char* value : {"null", "true", "\"32\"", "[32]", "{}", "1e30", "-1", "32.5"}) {
      TinyHf other("types");
      other.Replace("config.json", quoted, quoted + ":" + value + ",\"y\"");
      ExpectRefused(other,
                    key == std::string("model_type") && value == std::string("\"32\"") ? kUnsupported : kMalformed,
                    std::string("key '") + key + "'");
    }
    if (key == std::string("model_type")) continue;
    TinyHf huge("huge");
    huge.Replace("config.json", quoted, quoted + ":18446744073709551615,\"y\"");
    ExpectRefused(huge, kTooLarge, std::string("key '") + key + "'");
  }
}

TEST(HfFolder, refuses_what_this_build_would_compute_wrongly) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("hidden_act":"silu")", R"("hidden_act":"gelu")"},
      {R"("hidden_act":"silu")", R"("attention_bias":true)"},
      {R"("hidden_act":"silu")", R"("mlp_bias":true)"},
      {R"("hidden_act":"silu")", R"("quantization_config":{"bits":4})"},
      {R"("hidden_act":"silu")", R"("partial_rotary_factor":0.5)"},
      {R"("model_type":"llama")", R"("model_type":"mixtral")"},
  };
  for (const auto& [from, to] : cases) {
    TinyHf folder("unsupported");
    folder.Replace("config.json", from, to);
    ExpectRefused(folder, kUnsupported, "config.json");
  }
  TinyHf folder("surplus");
  folder.tensors.push_back({"model.layers.0.self_attn.q_proj.bias", "F32", "[32]", std::string(128, '\0')});
  ExpectRefused(folder, kUnsupported, "q_proj.bias");
}

TEST(HfFolder, refuses_config_json_cut_at_every_length) {
  TinyHf folder("cut");
  const std::string path = folder.Write();
  const std::string whole = folder.files.at("config.json");
  for (size_t length = 0; length < whole.size(); ++length) {
    folder.WriteFile("config.json", whole.substr(0, length));
    ASSERT_EQ(Open(path).error().code, kMalformed) << length;
  }
}

TEST(HfFolder, refuses_tokenizer_json_cut_at_every_length) {
  TinyHf folder("cut_tokenizer");
  const std::string path = folder.Write();
  const std::string whole = folder.files.at("tokenizer.json");
  for (size_t length = 0; length < whole.size(); ++length) {
    folder.WriteFile("tokenizer.json", whole.substr(0, length));
    ASSERT_EQ(Open(path).error().code, kMalformed) << length;
  }
}

TEST(HfFolder, refuses_tokens_outside_the_vocabulary_and_other_types) {
  for (const char* value : {"8", "-2", "1e30", "\"2\"", "[2,8]", "{}", "[[2]]", "9223372036854775807"}) {
    TinyHf folder("eos");
    folder.Replace("config.json", R"("eos_token_id":2)", std::string(R"("eos_token_id":)") + value);
    ExpectRefused(folder, kMalformed, "eos_token_id");
  }
  for (const char* value : {"5", "[5]", "[{}]", R"([{"id":"x","content":"y"}])", R"([{"id":1,"content":2}])",
                            R"([{"id":99999999999,"content":"y"}])"}) {
    TinyHf folder("added");
    folder.files["tokenizer.json"] = std::string(R"({"added_tokens":)") + value + "}";
    ExpectRefused(folder, kMalformed, "added_tokens");
  }
  TinyHf folder("none");
  folder.files["tokenizer.json"] = "[]";
  ExpectRefused(folder, kMalformed, "an object");
  folder.files.erase("tokenizer.json");
  ExpectRefused(folder, ErrorCode::kNotFound, "tokenizer.json");
  TinyHf sampling("sampling");
  for (const char* text : {R"({"temperature":"hot"})", R"({"top_k":-1})", R"({"top_k":1e30})", R"({"do_sample":1})",
                           R"({"temperature":1e300})", R"({"top_k":4294967296})"}) {
    sampling.files["generation_config.json"] = text;
    ExpectRefused(sampling, kMalformed, "generation_config.json");
  }
}

TEST(HfFolder, refuses_a_norm_with_nan) {
  TinyHf folder("nan");
  const float nan = std::nanf("");
  std::memcpy(folder.tensors[1].bytes.data() + 4, &nan, sizeof nan);
  ExpectRefused(folder, kMalformed, "tensor 'model.norm.weight', element 1");
}

TEST(HfFolder, refuses_an_empty_folder_and_an_absent_path) {
  TinyHf folder("empty");
  folder.files.clear();
  ExpectRefused(folder, ErrorCode::kNotFound, "config.json");
  EXPECT_EQ(Open("/no/such/model").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Open("/dev/null").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace samebit::model
