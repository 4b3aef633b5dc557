// Text vectors of the tiny BERT and of the real MiniLM: against transformers in float32 within stated tolerances, with the
// mistakes that those would notice, and bit for bit against a plain forward pass from arith.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "model/hf_word_pieces.h"
#include "support/edited_model.h"
#include "support/encoders.h"
#include "support/expected_data.h"
#include "text/prompt_ids.h"

namespace samebit::test {
namespace {

using engine::EmbedRequest;
using engine::EngineOptions;
using model::Role;

// Largest difference of an element of an unnormalised vector of the tiny model (they spread by about 1). Float32 moves it
// by 2e-6; the smallest mistake below by more than 1e-3.
constexpr double kVectorErrorMax = 2e-5;
// Of the real model: one minus the cosine to the oracle, and the largest difference of an element at length 1.
constexpr double kCosineMin = 0.999999;
constexpr double kUnitErrorMax = 1e-5;

std::shared_ptr<const engine::Weights> Pack(const model::Model& model) {
  return ValueOrStop(engine::PackWeights(model, 1));
}

EngineOptions Options() {
  EngineOptions options;
  options.isa = kernels::BestIsa();
  return options;
}

std::vector<EmbedRequest> AllPoolings(const ExpectedVectors& expected) {
  std::vector<EmbedRequest> requests;
  for (const auto& text : expected.texts)
    for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst, Pooling::kLast})
      requests.push_back({text, pooling, false});
  return requests;
}

double DistanceFromOracle(const model::Model& model, const ExpectedVectors& expected) {
  const auto vectors = Vectors(Pack(model), Options(), AllPoolings(expected));
  double worst = 0;
  for (size_t i = 0; i < vectors.size(); ++i)
    for (uint32_t d = 0; d < expected.width; ++d)
      worst = std::max<double>(worst, std::fabs(vectors[i][d] - expected.vectors[i * expected.width + d]));
  return worst;
}

TEST(TinyBert, vectors_are_the_oracles_with_both_forms_of_gelu) {
  EditedModel edited(OpenTinyBert());
  EXPECT_EQ(edited.config().activation, model::Activation::kGeluErf);
  const double exact = DistanceFromOracle(edited, ReadExpectedVectors("bert-tiny"));
  edited.edit_config().activation = model::Activation::kGeluTanh;
  const double tanh = DistanceFromOracle(edited, ReadExpectedVectors("bert-tiny-tanh"));
  std::printf("largest difference: gelu %.2g, gelu_new %.2g\n", exact, tanh);
  EXPECT_LT(exact, kVectorErrorMax);
  EXPECT_LT(tanh, kVectorErrorMax);
}

TEST(TinyBert, the_tolerance_notices_every_mistake) {
  const auto fill = [](Role role, uint32_t layer, float value) {
    return [=](EditedModel& model) {
      std::vector<float>& values = model.EditTensor(role, layer);
      std::fill(values.begin(), values.end(), value);
    };
  };
  struct Mistake {
    const char* name;
    std::function<void(EditedModel&)> make;
  };
  const Mistake mistakes[] = {
      {"norm epsilon", [](EditedModel& model) { model.edit_config().norm_epsilon = 1e-5f; }},
      {"activation", [](EditedModel& model) { model.edit_config().activation = model::Activation::kGeluTanh; }},
      {"attention scale", [](EditedModel& model) { model.edit_config().attention_scale *= 1.01f; }},
      {"query bias", fill(Role::kQueryBias, 1, 0)},
      {"value bias", fill(Role::kValueBias, 0, 0)},
      {"attention output bias", fill(Role::kAttentionOutputBias, 1, 0)},
      {"up bias", fill(Role::kFfnUpBias, 0, 0)},
      {"down bias", fill(Role::kFfnDownBias, 1, 0)},
      {"embedding norm", fill(Role::kEmbeddingNorm, 0, 1)},
      {"embedding norm bias", fill(Role::kEmbeddingNormBias, 0, 0)},
      {"attention norm", fill(Role::kAttentionNorm, 0, 1)},
      {"attention norm bias", fill(Role::kAttentionNormBias, 1, 0)},
      {"ffn norm", fill(Role::kFfnNorm, 1, 1)},
      {"ffn norm bias", fill(Role::kFfnNormBias, 1, 0)},
      {"token type", fill(Role::kTokenTypeEmbedding, 0, 0)},
      {"positions", fill(Role::kPositionEmbedding, 0, 0)},
  };
  const ExpectedVectors expected = ReadExpectedVectors("bert-tiny");
  EditedModel same(OpenTinyBert());
  same.EditTensor(Role::kFfnNorm, 0);
  EXPECT_LT(DistanceFromOracle(same, expected), kVectorErrorMax) << "the editing itself changes nothing";
  for (const Mistake& mistake : mistakes) {
    EditedModel edited(OpenTinyBert());
    mistake.make(edited);
    EXPECT_GT(DistanceFromOracle(edited, expected), 3 * kVectorErrorMax) << mistake.name;
  }
}

// A key bias adds the same number to all scores of a query, which softmax takes out: the oracle cannot see it, the law can.
TEST(TinyBert, rows_equal_the_plain_forward_pass_on_every_instruction_set) {
  const auto model = OpenTinyBert();
  const auto weights = Pack(*model);
  const ExpectedVectors expected = ReadExpectedVectors("bert-tiny");
  for (const size_t text : {size_t{0}, size_t{4}, size_t{6}, size_t{10}, size_t{11}}) {
    const std::vector<TokenId>& tokens = expected.texts[text];
    const std::vector<float> law = ReferenceEncoder(*model, tokens);
    for (const kernels::Isa isa : kernels::AvailableIsas()) {
      for (const uint32_t threads : {1u, 3u}) {
        EngineOptions options;
        options.isa = isa;
        options.threads = threads;
        const auto vectors =
            Vectors(weights, options, {{tokens, Pooling::kFirst, false}, {tokens, Pooling::kLast, false}});
        EXPECT_EQ(std::memcmp(vectors[0].data(), law.data(), expected.width * sizeof(float)), 0)
            << tokens.size() << " tokens, " << kernels::IsaName(isa);
        EXPECT_EQ(std::memcmp(vectors[1].data(), &law[law.size() - expected.width], expected.width * sizeof(float)), 0)
            << tokens.size() << " tokens, " << kernels::IsaName(isa);
      }
    }
  }
}

TEST(TinyBert, a_wrong_key_bias_moves_bits) {
  EditedModel edited(OpenTinyBert());
  const std::vector<TokenId> tokens = ReadExpectedVectors("bert-tiny").texts[4];
  const auto before = Vectors(Pack(edited), Options(), {{tokens, Pooling::kMean, true}});
  std::vector<float>& bias = edited.EditTensor(Role::kKeyBias, 0);
  std::fill(bias.begin(), bias.end(), 0.0f);
  EXPECT_NE(before, Vectors(Pack(edited), Options(), {{tokens, Pooling::kMean, true}}));
}

// The same vocabulary as vocab.txt gives the same ids.
TEST(TinyBert, vocab_txt_tokenizes_as_tokenizer_json_does) {
  const auto model = OpenTinyBert();
  const auto json = ReadJsonOrStop(std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/encoders/bert-tiny/tokenizer.json");
  std::map<int64_t, std::string> by_id;
  for (const auto& [piece, id] : json.at("model").at("vocab").as_object()) by_id[id.as_int64()] = std::string(piece);
  std::string lines;
  for (const auto& [id, piece] : by_id) lines += piece + "\n";
  TokenizerSpec spec = model->tokenizer();
  spec.tokenizer_json = ValueOrStop(model::WordPieceJson(lines, true, "vocab.txt"));
  const auto from_lines = ValueOrStop(text::MakeTokenizer(spec));
  const auto from_json = ValueOrStop(text::MakeTokenizer(model->tokenizer()));
  for (const std::string& sentence : ReadExpectedVectors("minilm").sentences) {
    const auto ids = ValueOrStop(text::EmbeddingIds(*from_json, model->tokenizer(), sentence));
    EXPECT_EQ(ValueOrStop(text::EmbeddingIds(*from_lines, spec, sentence)), ids) << sentence;
    EXPECT_TRUE(sentence.size() < 200 || ids.size() > 16u) << "tokenizer.json asks for truncation at 16 tokens";
  }
}

double Cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) ab += double{a[i]} * b[i], aa += double{a[i]} * a[i], bb += double{b[i]} * b[i];
  return ab / std::sqrt(aa * bb);
}

TEST(RealMiniLm, ids_vectors_and_orders_are_the_oracles) {
  auto opened = model::Open(std::string(SAMEBIT_SOURCE_DIR) + "/models/all-minilm-l6-v2");
  ASSERT_TRUE(opened.ok()) << opened.error().message << "; ./check downloads it";
  const model::Model& model = **opened;
  EXPECT_EQ(model.config().context, 256u);
  EXPECT_EQ(engine::PoolingOf(model.config()), Pooling::kMean);
  EXPECT_TRUE(engine::NormalizesVectors(model.config()));
  const auto tokenizer = ValueOrStop(text::MakeTokenizer(model.tokenizer()));
  const ExpectedVectors expected = ReadExpectedVectors("minilm");
  std::vector<EmbedRequest> requests;
  for (size_t i = 0; i < expected.texts.size(); ++i) {
    EXPECT_EQ(ValueOrStop(text::EmbeddingIds(*tokenizer, model.tokenizer(), expected.sentences[i])), expected.texts[i])
        << expected.sentences[i];
    requests.push_back({expected.texts[i], Pooling::kMean, true});
  }
  const auto vectors = Vectors(Pack(model), Options(), requests);
  double cosine_min = 1, worst = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    cosine_min = std::min(cosine_min, Cosine(vectors[i], expected.Vector(i, 0, 1)));
    for (uint32_t d = 0; d < expected.width; ++d)
      worst = std::max<double>(worst, std::fabs(vectors[i][d] - expected.Vector(i, 0, 1)[d]));
  }
  std::printf("smallest cosine to the oracle 1 - %.2g, largest difference of an element %.2g\n", 1 - cosine_min, worst);
  EXPECT_GE(cosine_min, kCosineMin);
  EXPECT_LT(worst, kUnitErrorMax);
  ASSERT_GE(expected.orders.size(), 5u);
  for (const std::vector<uint32_t>& order : expected.orders)
    EXPECT_GT(Cosine(vectors[order[0]], vectors[order[1]]), Cosine(vectors[order[0]], vectors[order[2]]) + 0.1)
        << expected.sentences[order[0]];
}

}  // namespace
}  // namespace samebit::test
