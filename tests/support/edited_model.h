// A model with one thing changed: how tests make a wrong norm, scale or rotation, a NaN, or two equal tokens.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arith/number_formats.h"
#include "model/model.h"

namespace samebit::test {

class EditedModel final : public model::Model {
 public:
  explicit EditedModel(std::unique_ptr<model::Model> base) : base_(std::move(base)), config_(base_->config()) {}

  model::ModelConfig& edit_config() { return config_; }

  // The tensor's elements as binary32, to be changed; stored as F32 from now on.
  std::vector<float>& EditTensor(model::Role role, uint32_t layer) {
    Edit& edit = edits_[{role, layer}];
    if (!edit.values.empty()) return edit.values;
    edit.tensor = *base_->Find(role, layer);
    edit.values.resize(edit.tensor.rows * edit.tensor.columns);
    arith::Dequantize(edit.tensor.type, edit.tensor.bytes.data(), edit.values.size(), edit.values.data());
    edit.tensor.type = arith::WeightType::kF32;
    edit.tensor.bytes = std::as_bytes(std::span(edit.values));
    return edit.values;
  }

  const model::ModelConfig& config() const override { return config_; }
  const TokenizerSpec& tokenizer() const override { return base_->tokenizer(); }
  const CheckpointSampling& sampling() const override { return base_->sampling(); }
  const std::string& path() const override { return base_->path(); }
  const model::Tensor* Find(model::Role role, uint32_t layer) const override {
    const auto edit = edits_.find({role, layer});
    return edit == edits_.end() ? base_->Find(role, layer) : &edit->second.tensor;
  }
  model::RopeLayout rope_layout() const override { return base_->rope_layout(); }
  bool norms_add_one() const override { return base_->norms_add_one(); }
  std::span<const model::Tensor> tensors() const override { return base_->tensors(); }
  Result<std::vector<model::FileDigest>> Digests() const override { return base_->Digests(); }
  void ReleasePages() const override {}

 private:
  struct Edit {
    model::Tensor tensor;
    std::vector<float> values;
  };
  std::unique_ptr<model::Model> base_;
  model::ModelConfig config_;
  std::map<std::pair<model::Role, uint32_t>, Edit> edits_;
};

}  // namespace samebit::test
