#include "model/loaded_model.h"

namespace samebit::model {
namespace {

class LoadedModel final : public Model {
 public:
  explicit LoadedModel(LoadedParts parts) : parts_(std::move(parts)) {}

  const ModelConfig& config() const override { return parts_.config; }
  const TokenizerSpec& tokenizer() const override { return parts_.tokenizer; }
  const CheckpointSampling& sampling() const override { return parts_.sampling; }
  const std::string& path() const override { return parts_.path; }
  const Tensor* Find(Role role, uint32_t layer) const override {
    return parts_.roles.Find(parts_.tensors, role, layer);
  }
  RopeLayout rope_layout() const override { return parts_.rope_layout; }
  bool norms_add_one() const override { return parts_.norms_add_one; }
  std::span<const Tensor> tensors() const override { return parts_.tensors; }
  Result<std::vector<FileDigest>> Digests() const override {
    return DigestFiles(parts_.digest_folder, parts_.digest_names);
  }
  void ReleasePages() const override {
    for (const world::MappedFile& file : parts_.files) file.ReleasePages();
  }

 private:
  const LoadedParts parts_;
};

}  // namespace

std::unique_ptr<Model> MakeLoadedModel(LoadedParts parts) { return std::make_unique<LoadedModel>(std::move(parts)); }

}  // namespace samebit::model
