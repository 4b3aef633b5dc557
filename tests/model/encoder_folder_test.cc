// Folders of sentence encoders: what is read of them, and every change that would be computed wrongly is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/model.h"
#include "model/safetensors_reader.h"
#include "support/tiny_hf.h"

namespace samebit::model {
namespace {

namespace fs = std::filesystem;

// A copy of the tiny BERT of tests/data that a test may change.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("samebit_encoder_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::copy(SAMEBIT_SOURCE_DIR "/tests/data/encoders/bert-tiny", path_, fs::copy_options::recursive);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

  std::string Read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  // The first occurrence, which must be there.
  void Replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = Read(name);
    const size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    Write(name, text.replace(place, from.size(), to));
  }
  void Remove(const std::string& name) const { fs::remove(path_ / name); }

 private:
  fs::path path_;
};

void ExpectRefused(const Folder& folder, ErrorCode code, const std::string& part_of_message) {
  const auto model = Open(folder.path().string());
  ASSERT_FALSE(model.ok()) << "expected a refusal with " << part_of_message;
  EXPECT_STREQ(ErrorCodeName(model.error().code), ErrorCodeName(code)) << model.error().message;
  EXPECT_NE(model.error().message.find(part_of_message), std::string::npos) << model.error().message;
}

TEST(EncoderFolder, is_read_with_its_pooling_and_limit) {
  const Folder folder;
  const auto model = Open(folder.path().string());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const ModelConfig& config = (*model)->config();
  EXPECT_EQ(config.family, "bert");
  EXPECT_EQ(config.kind, ModelKind::kEncoder);
  EXPECT_EQ(config.activation, Activation::kGeluErf);
  EXPECT_EQ(config.norm_epsilon, 1e-3f);
  EXPECT_EQ(config.positions, 320u);
  EXPECT_EQ(config.context, 300u);
  EXPECT_EQ(config.token_types, 2u);
  EXPECT_EQ(config.pooling, Pooling::kMean);
  EXPECT_EQ(config.normalized_vectors, true);
  EXPECT_EQ((*model)->tokenizer().bos, TokenId{2});
  EXPECT_EQ((*model)->tokenizer().eos, TokenId{3});
  EXPECT_EQ((*model)->Find(Role::kPositionEmbedding, 0)->rows, 320u);
  EXPECT_EQ((*model)->Find(Role::kFfnGate, 0), nullptr);
  const auto digests = (*model)->Digests();
  ASSERT_TRUE(digests.ok());
  EXPECT_EQ(digests->size(), 7u) << "every file that decides about a vector, the pooling among them";
}

TEST(EncoderFolder, without_sentence_files_says_nothing_about_pooling) {
  const Folder folder;
  folder.Remove("modules.json");
  const auto model = Open(folder.path().string());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_FALSE((*model)->config().pooling.has_value());
  EXPECT_FALSE((*model)->config().normalized_vectors.has_value());
  EXPECT_EQ((*model)->config().context, 320u);
}

TEST(EncoderFolder, takes_the_spelling_of_the_older_post_processor) {
  const Folder folder;
  const std::string text = folder.Read("tokenizer.json");
  const size_t begin = text.find("\"post_processor\":"), end = text.find("\"decoder\":");
  folder.Write("tokenizer.json",
               text.substr(0, begin) +
                   R"("post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},)" +
                   text.substr(end));
  const auto model = Open(folder.path().string());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->tokenizer().bos, TokenId{2});
  EXPECT_EQ((*model)->tokenizer().eos, TokenId{3});
  folder.Write("tokenizer.json", text.substr(0, begin) + R"("post_processor":null,)" + text.substr(end));
  ExpectRefused(folder, ErrorCode::kUnsupported, "post_processor");
}

TEST(EncoderFolder, refuses_what_would_be_computed_otherwise) {
  constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported, kMalformed = ErrorCode::kMalformed;
  const struct {
    const char *file, *from, *to;
    ErrorCode code;
    const char* message;
  } cases[] = {
      {"config.json", R"("absolute")", R"("relative_key")", kUnsupported, "position_embedding_type"},
      {"config.json", R"("gelu")", R"("relu")", kUnsupported, "hidden_act"},
      {"config.json", R"("pad_token_id")", R"("is_decoder": true, "pad_token_id")", kUnsupported, "is_decoder"},
      {"config.json", R"("pad_token_id")", R"("add_cross_attention": true, "pad_token_id")", kUnsupported, "add_cross"},
      {"config.json", R"("layer_norm_eps": 0.001)", R"("layer_norm_eps": 0)", kMalformed, "layer_norm_eps"},
      {"config.json", R"("type_vocab_size": 2)", R"("type_vocab_size": 3)", kMalformed, "token_type"},
      {"config.json", R"("max_position_embeddings": 320)", R"("max_position_embeddings": 319)", kMalformed, "position"},
      {"config.json", R"("num_attention_heads": 4)", R"("num_attention_heads": 5)", kUnsupported, ""},
      {"config.json", R"("num_hidden_layers": 2)", R"("num_hidden_layers": 3)", kMalformed, "encoder.layer.2."},
      {"config.json", R"("num_hidden_layers": 2)", R"("num_hidden_layers": 1)", kUnsupported, "encoder.layer.1."},
      {"modules.json", "models.Normalize", "models.Dense", kUnsupported, "Dense"},
      {"modules.json", "models.Pooling", "models.WeightedLayerPooling", kUnsupported, "steps"},
      {"modules.json", "\"1_Pooling\"", "\"../1_Pooling\"", kUnsupported, "paths"},
      {"modules.json", "[", "{", kMalformed, ""},
      {"1_Pooling/config.json", R"("pooling_mode_max_tokens": false)", R"("pooling_mode_max_tokens": true)",
       kUnsupported, "exactly one"},
      {"1_Pooling/config.json", R"("pooling_mode_mean_tokens": true)", R"("pooling_mode_mean_tokens": false)",
       kUnsupported, "exactly one"},
      {"sentence_bert_config.json", R"("do_lower_case": false)", R"("do_lower_case": true)", kUnsupported,
       "do_lower_case"},
      {"sentence_bert_config.json", R"("max_seq_length": 300)", R"("max_seq_length": 0)", kMalformed, "max_seq_length"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.file) + " " + one.to);
    const Folder folder;
    folder.Replace(one.file, one.from, one.to);
    ExpectRefused(folder, one.code, one.message);
  }
  const Folder prompted;
  prompted.Write("config_sentence_transformers.json", R"({"default_prompt_name":"query","prompts":{"query":"q: "}})");
  ExpectRefused(prompted, kUnsupported, "default_prompt_name");
}

// As BertForMaskedLM saves it: every name one module deeper, a head beside it.
TEST(EncoderFolder, is_found_inside_a_model_for_another_task) {
  const Folder folder;
  const std::string file = folder.Read("model.safetensors");
  uint64_t header_bytes;
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  std::string header = file.substr(8, header_bytes);
  for (const char* part : {"\"embeddings.", "\"encoder.", "\"pooler."}) {
    for (size_t at = header.find(part); at != std::string::npos; at = header.find(part, at + 6))
      header.insert(at + 1, "bert.");
  }
  while (header.size() % 8 != 0) header += ' ';
  folder.Write("model.safetensors", test::SafetensorsFile(header, file.substr(8 + header_bytes)));
  const auto model = Open(folder.path().string());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->Find(Role::kEmbedding, 0)->name, "bert.embeddings.word_embeddings.weight");
}

TEST(DecoderFolder, says_its_pooling_in_the_same_files) {
  test::TinyHf folder("decoder_pooling");
  folder.files["modules.json"] =
      R"([{"path":"","type":"sentence_transformers.models.Transformer"},)"
      R"({"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}])";
  const std::string path = folder.Write();
  fs::create_directory(folder.folder / "1_Pooling");
  folder.WriteFile("1_Pooling/config.json", R"({"pooling_mode_lasttoken":true,"pooling_mode_mean_tokens":false})");
  const auto model = Open(path);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->config().kind, ModelKind::kDecoder);
  EXPECT_EQ((*model)->config().pooling, Pooling::kLast);
  EXPECT_EQ((*model)->config().normalized_vectors, false);
}

TEST(EncoderFolder, takes_vocab_txt_where_there_is_no_tokenizer_json) {
  const Folder folder;
  const auto before = Open(folder.path().string());
  ASSERT_TRUE(before.ok());
  folder.Remove("tokenizer.json");
  std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\"\\\n";
  folder.Write("vocab.txt", lines);
  const auto model = Open(folder.path().string());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->tokenizer().bos, (*before)->tokenizer().bos);
  EXPECT_EQ((*model)->tokenizer().eos, (*before)->tokenizer().eos);
  EXPECT_NE((*model)->tokenizer().tokenizer_json.find(R"("lowercase":true)"), std::string::npos);
  EXPECT_NE((*model)->tokenizer().tokenizer_json.find(R"("##b":6)"), std::string::npos);
  folder.Write("vocab.txt", lines + "a\n");
  ExpectRefused(folder, ErrorCode::kMalformed, "a second time");
  folder.Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n");
  ExpectRefused(folder, ErrorCode::kMalformed, "[SEP]");
  folder.Write("vocab.txt", lines + "\xff\n");
  ExpectRefused(folder, ErrorCode::kMalformed, "UTF-8");
  folder.Write("vocab.txt", lines);
  folder.Replace("tokenizer_config.json", "do_lower_case", "do_other_case");
  ExpectRefused(folder, ErrorCode::kUnsupported, "do_lower_case");
}

TEST(EncoderFolder, refuses_files_cut_at_every_length) {
  for (const char* name : {"modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "config.json"}) {
    const Folder folder;
    const std::string whole = folder.Read(name);
    for (size_t bytes = 0; bytes + 2 < whole.size(); ++bytes) {
      folder.Write(name, whole.substr(0, bytes));
      ASSERT_FALSE(Open(folder.path().string()).ok()) << name << " cut to " << bytes << " bytes";
    }
  }
}

TEST(EncoderFolder, refuses_a_tensor_that_is_not_finite_or_missing) {
  const Folder folder;
  std::string weights = folder.Read("model.safetensors");
  folder.Write("model.safetensors", weights.substr(0, weights.size() - 4));
  ExpectRefused(folder, ErrorCode::kMalformed, "data section");
  const size_t name = weights.find("embeddings.LayerNorm.bias");
  ASSERT_NE(name, std::string::npos);
  weights.replace(name, 25, "embeddings.LayerNorm.beta");
  folder.Write("model.safetensors", weights);
  ExpectRefused(folder, ErrorCode::kMalformed, "embeddings.LayerNorm.bias");
}

TEST(Safetensors, leaves_out_position_ids_that_count_from_zero_and_refuses_others) {
  std::string ids;
  for (uint64_t i = 0; i < 3; ++i) test::Append<uint64_t>(&ids, i);
  const auto read = [](const std::string& file) {
    return ReadSafetensors(std::as_bytes(std::span(file.data(), file.size())), "w.safetensors");
  };
  const std::string good = test::SafetensorsFile(
      {{"e.position_ids", "I64", "[1,3]", ids}, {"x", "F32", "[1]", std::string(4, 'a')}});
  const auto tensors = read(good);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 1u);
  EXPECT_EQ((*tensors)[0].name, "x");
  ids[8] = 5;
  EXPECT_FALSE(read(test::SafetensorsFile({{"e.position_ids", "I64", "[1,3]", ids}})).ok());
  ids[8] = 1;
  EXPECT_FALSE(read(test::SafetensorsFile({{"e.other_ids", "I64", "[1,3]", ids}})).ok());
  EXPECT_FALSE(read(test::SafetensorsFile({{"e.position_ids", "I64", "[1,4]", ids}})).ok());
}

}  // namespace
}  // namespace samebit::model
