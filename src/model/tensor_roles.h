// Which tensor fills which role, with every shape checked against the configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/family.h"
#include "model/model.h"

namespace samebit::model {

inline constexpr uint32_t kRoleCount = static_cast<uint32_t>(Role::kFfnNormBias) + 1;

// Roles whose tensor belongs to the whole model and not to a layer.
bool IsPerModel(Role role);
// Norm weights, biases and the small tables of an encoder: added or multiplied as they are, float formats only.
bool IsVector(Role role);

enum class FileFormat { kGguf, kHuggingFace };

struct RoleSources {
  FileFormat format;
  std::string path;            // for messages
  std::string body_prefix;     // before embed_tokens, norm and layers in a Hugging Face file: "model."
  std::string output_prefix;   // before lm_head.weight: "" or "language_model."
  // Names that start with one of these belong to parts of the file that this build leaves out on purpose.
  std::vector<std::string> ignored_prefixes;
};

class RoleTable {
 public:
  // Fills a table of indices into `tensors`. `config` is complete, and says by `tied_embedding` whether there is an
  // output matrix. A tensor that no role takes is refused: to leave a bias out would give wrong answers quietly.
  // Failures: kMalformed (a role's tensor is absent, has another shape, or a norm or bias that is not finite),
  // kUnsupported (a tensor that the family does not know, a quantized norm).
  static Result<RoleTable> Resolve(const Family& family, const ModelConfig& config, const std::vector<Tensor>& tensors,
                                   const RoleSources& sources);

  // nullptr where the model has no such tensor. `tensors` is the vector of Resolve.
  const Tensor* Find(const std::vector<Tensor>& tensors, Role role, uint32_t layer) const;

 private:
  std::vector<int32_t> index_;  // [layer * kRoleCount + role]; -1: none; per-model roles at layer 0
  uint32_t layers_ = 0;
};

// kMalformed if a vector of a float format holds a NaN or an infinity.
Status CheckVectorFinite(const Tensor& tensor, const std::string& path);

}  // namespace samebit::model
