#include "cli/served_model.h"

#include <set>

#include "arith/environment.h"
#include "arith/number_formats.h"
#include "arith/reduction_tree.h"
#include "cli/versions.h"
#include "kernels/isa.h"
#include "kernels/self_test.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

// The number formats of the stored weights, as a sorted list.
std::string WeightFormats(const model::Model& model) {
  std::set<std::string_view> names;
  for (const model::Tensor& tensor : model.tensors()) names.insert(arith::Format(tensor.type).name);
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ",") + std::string(name);
  return list;
}

}  // namespace

Result<ModelIdentity> IdentityOf(const LoadedModel& loaded) {
  ModelIdentity identity;
  ASSIGN_OR_RETURN(const std::vector<model::FileDigest> files, loaded.model->Digests());
  std::vector<std::pair<std::string, Sha256Digest>> digests;
  for (const model::FileDigest& file : files) {
    digests.emplace_back(file.path, file.sha256);
    identity.files.emplace_back(file.path, file.sha256.hex());
  }
  const TokenizerSpec& spec = loaded.model->tokenizer();
  identity.semantic.model_sha256 = contract::CombineFileDigests(std::move(digests));
  identity.semantic.tokenizer_sha256 = contract::TokenizerSha256(spec);
  if (spec.chat_template) identity.semantic.chat_template_sha256 = Sha256::Of(*spec.chat_template).hex();
  identity.semantic.dtype = "float32";
  identity.semantic.quantization = WeightFormats(*loaded.model);
  return identity;
}

contract::NumericPart NumericPartOf(const engine::EngineOptions& options) {
  contract::NumericPart part;
  part.arithmetic = arith::kArithmeticVersion;
  part.kv_cache_dtype = options.cache_type == kernels::CacheType::kF32 ? "f32" : "f16";
  part.reduction_leaf = std::to_string(arith::kFloatLeafInputsMax);
  part.reduction_tree =
      "rule-T/" + std::to_string(arith::kForcedTreeLevels) + "/" + std::to_string(arith::kThirdLevelInputsMin);
  part.batch_invariance = true;
  part.self_test_sha256 = kernels::GoldenSelfTestDigest();
  return part;
}

contract::NumericPart NumericPartOfEncoder(const engine::EngineOptions& options) {
  contract::NumericPart part = NumericPartOf(options);
  part.kv_cache_dtype = "f32";
  part.self_test_sha256 = kernels::GoldenEncoderSelfTestDigest();
  return part;
}

contract::DeploymentPart DeploymentPartOf(const engine::EngineOptions& options,
                                          const std::optional<std::string>& container_image,
                                          const std::optional<std::string>& deployment_version) {
  contract::DeploymentPart part;
  part.engine_name = "samebit";
  part.engine_version = OwnVersion();
  part.engine_commit = OwnCommit();
  part.engine_flags = OwnCompilerFlags();
  for (const NamedVersion& version : Versions()) {
    if (version.name == "samebit" || version.name == "arithmetic") continue;
    if (version.name == "g++" || version.name == "clang")
      part.engine_compiler = version.name + " " + version.version;
    else
      part.libraries.emplace_back(version.name, version.version);
  }
  part.cpu_model = world::CpuModel();
  part.isa = kernels::IsaName(options.isa);
  part.threads = options.threads;
  part.tensor_parallel_size = options.tensor_parallel;
  part.chunked_prefill = options.prefill_chunk;
  part.max_num_seqs = options.sequences_max;
  part.kv_page_tokens = options.page_tokens;
  part.prefix_cache = options.prefix_cache;
  part.container_image_digest = container_image.value_or("");
  part.deployment_version = deployment_version.value_or("");
  return part;
}

std::string DefaultModelId(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  name = name.substr(name.find_last_of('/') + 1);
  static constexpr std::string_view kEnding = ".gguf";
  if (name.size() > kEnding.size() && name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
  return name;
}

}  // namespace samebit::cli
