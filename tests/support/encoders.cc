#include "support/encoders.h"

#include <algorithm>

#include "arith/attention.h"
#include "arith/elementary.h"
#include "arith/linear.h"
#include "arith/norm.h"
#include "arith/sentence_vector.h"
#include "support/expected_data.h"

namespace samebit::test {
namespace {

using model::Role;

const std::string kFolder = std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/encoders/";

class Reference {
 public:
  Reference(const model::Model& model, std::span<const TokenId> tokens)
      : model_(model), config_(model.config()), tokens_(tokens), count_(static_cast<uint32_t>(tokens.size())) {}

  std::vector<float> Run() {
    Embed();
    for (uint32_t layer = 0; layer < config_.layers; ++layer) {
      AddBranch(Linear(Role::kAttentionOutput, Role::kAttentionOutputBias, layer, Attention(layer), config_.head_size));
      Norm(Role::kAttentionNorm, Role::kAttentionNormBias, layer);
      std::vector<float> hidden = Linear(Role::kFfnUp, Role::kFfnUpBias, layer, x_);
      for (float& value : hidden)
        value = config_.activation == model::Activation::kGeluErf ? arith::GeluErf(value) : arith::GeluTanh(value);
      AddBranch(Linear(Role::kFfnDown, Role::kFfnDownBias, layer, hidden));
      Norm(Role::kFfnNorm, Role::kFfnNormBias, layer);
    }
    return x_;
  }

 private:
  std::vector<float> Values(Role role, uint32_t layer) const {
    const model::Tensor& tensor = *model_.Find(role, layer);
    std::vector<float> values(tensor.rows * tensor.columns);
    arith::Dequantize(tensor.type, tensor.bytes.data(), values.size(), values.data());
    return values;
  }

  void Embed() {
    const uint32_t width = config_.width;
    const std::vector<float> words = Values(Role::kEmbedding, 0), types = Values(Role::kTokenTypeEmbedding, 0),
                             positions = Values(Role::kPositionEmbedding, 0);
    x_.resize(size_t{count_} * width);
    for (uint32_t i = 0; i < count_; ++i)
      arith::AddEmbeddings(&words[static_cast<size_t>(tokens_[i]) * width], types.data(), &positions[size_t{i} * width],
                           width, &x_[size_t{i} * width]);
    Norm(Role::kEmbeddingNorm, Role::kEmbeddingNormBias, 0);
  }

  void Norm(Role weights_role, Role bias_role, uint32_t layer) {
    const std::vector<float> weights = Values(weights_role, layer), bias = Values(bias_role, layer);
    for (uint32_t i = 0; i < count_; ++i) {
      float* row = &x_[size_t{i} * config_.width];
      arith::LayerNorm(row, weights.data(), bias.data(), config_.width, config_.norm_epsilon, row);
    }
  }

  std::vector<float> Linear(Role role, Role bias_role, uint32_t layer, const std::vector<float>& x,
                            uint32_t unit = 32) const {
    const model::Tensor& tensor = *model_.Find(role, layer);
    const auto rows = static_cast<uint32_t>(tensor.rows), columns = static_cast<uint32_t>(tensor.columns);
    std::vector<float> y(size_t{count_} * rows);
    const auto tree = arith::MakeTree(arith::LinearTreeShape(tensor.type, columns, unit));
    CHECK(arith::LinearReference({tensor.type, rows, columns, tensor.bytes.data()}, tree, x.data(), count_, y.data()));
    const std::vector<float> bias = Values(bias_role, layer);
    for (size_t i = 0; i < y.size(); ++i) y[i] = y[i] + bias[i % rows];
    return y;
  }

  void AddBranch(const std::vector<float>& branch) {
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = x_[i] + branch[i];
  }

  std::vector<float> Attention(uint32_t layer) const {
    constexpr uint32_t kSplit = arith::kAttentionSplitKeys;
    const uint32_t width = config_.width, size = config_.head_size;
    std::vector<float> q = Linear(Role::kQuery, Role::kQueryBias, layer, x_),
                       k = Linear(Role::kKey, Role::kKeyBias, layer, x_),
                       v = Linear(Role::kValue, Role::kValueBias, layer, x_), out(x_.size());
    for (float& value : q) value = value * config_.attention_scale;
    for (uint32_t head = 0; head < config_.heads; ++head) {
      for (uint32_t row = 0; row < count_; ++row) {
        std::vector<float> running_out(size), next_out(size);
        arith::AttentionPart running{0, 0, running_out.data()}, next{0, 0, next_out.data()};
        for (uint32_t base = 0; base < count_; base += kSplit) {
          std::vector<float> keys(size_t{kSplit} * size), values(keys.size());
          const uint32_t end = std::min(kSplit, count_ - base);
          for (uint32_t j = 0; j < end; ++j) {
            std::copy_n(&k[size_t{base + j} * width + head * size], size, &keys[size_t{j} * size]);
            std::copy_n(&v[size_t{base + j} * width + head * size], size, &values[size_t{j} * size]);
          }
          arith::AttentionSplit(&q[size_t{row} * width + head * size], size, keys.data(), values.data(), 0, end,
                                base == 0 ? &running : &next);
          if (base > 0) arith::MergeAttention(&running, next, size);
        }
        arith::FinishAttention(running, size, &out[size_t{row} * width + head * size]);
      }
    }
    return out;
  }

  const model::Model& model_;
  const model::ModelConfig& config_;
  std::span<const TokenId> tokens_;
  uint32_t count_;
  std::vector<float> x_;
};

}  // namespace

std::unique_ptr<model::Model> OpenTinyBert() { return ValueOrStop(model::Open(kFolder + "bert-tiny")); }

ExpectedVectors ReadExpectedVectors(const std::string& name) {
  const boost::json::value json = ReadJsonOrStop(kFolder + name + ".expected.json");
  ExpectedVectors expected;
  expected.width = json.at("width").to_number<uint32_t>();
  for (const boost::json::value& text : json.at("texts").as_array()) expected.texts.push_back(NumbersOf<TokenId>(text));
  if (const boost::json::value* sentences = json.as_object().if_contains("sentences")) {
    for (const boost::json::value& sentence : sentences->as_array()) expected.sentences.emplace_back(sentence.as_string());
    for (const boost::json::value& order : json.at("orders").as_array())
      expected.orders.push_back(NumbersOf<uint32_t>(order));
  }
  const std::string bytes =
      ReadDigestedOrStop(kFolder + std::string(json.at("vectors_file").as_string()), json.at("vectors_sha256"));
  const size_t poolings = json.as_object().contains("rows") ? 3 : 1;
  if (bytes.size() != expected.texts.size() * poolings * expected.width * sizeof(float))
    StopTests(name + ": the file of vectors has another size");
  expected.vectors.resize(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(expected.vectors.data()));
  return expected;
}

std::vector<float> ReferenceEncoder(const model::Model& model, std::span<const TokenId> tokens) {
  return Reference(model, tokens).Run();
}

std::vector<std::vector<float>> Vectors(std::shared_ptr<const engine::Weights> weights,
                                        const engine::EngineOptions& options,
                                        const std::vector<engine::EmbedRequest>& requests) {
  const auto embedder = ValueOrStop(engine::Embedder::Make(std::move(weights), options));
  return ValueOrStop(engine::Embed(*embedder, requests));
}

}  // namespace samebit::test
