// What a server says about the model, the arithmetic and this build: the fixed parts of its fingerprints.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/load_model.h"
#include "contract/fingerprint.h"
#include "engine/options.h"

namespace samebit::cli {

struct ModelIdentity {
  contract::SemanticPart semantic;  // without the sampling
  std::vector<std::pair<std::string, std::string>> files;  // name, SHA-256
};

// Reads every file of the model once, for its digest. Failures: those of Model::Digests.
Result<ModelIdentity> IdentityOf(const LoadedModel& loaded);
contract::NumericPart NumericPartOf(const engine::EngineOptions& options);
// Of a sentence encoder: it keeps keys and values as binary32, and its self-test has more operations.
contract::NumericPart NumericPartOfEncoder(const engine::EngineOptions& options);
// container_image and deployment_version: what the operator says, or nothing.
contract::DeploymentPart DeploymentPartOf(const engine::EngineOptions& options,
                                          const std::optional<std::string>& container_image,
                                          const std::optional<std::string>& deployment_version);

// The name that clients use where none is given: the file's or folder's, without ".gguf".
std::string DefaultModelId(const std::string& path);

}  // namespace samebit::cli
