// `--packed-cache FOLDER`: packed weights of models, one file each, which later processes map instead of packing.
//
// A cache: it never changes an answer, and whatever is wrong with a file (absent, cut, of another model or layout,
// damaged, somebody else's) costs one warning and packing anew. Processes may share a folder: files are replaced whole,
// and mapped ones stay what they were. Nothing outside the folder is written, nothing in it is removed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/packed_file.h"
#include "engine/weights.h"
#include "model/model.h"
#include "verify/child.h"
#include "world/log.h"

namespace samebit::cli {

enum class WeightsSource { kPacked, kPackedAndKept, kMapped };

// Where one model's file is, and what must be in it.
struct PackedCache {
  std::string path;
  engine::PackedFile form;
};
// Reads the model's files once, for their digest; nothing where no folder is named. Failures: kNotFound where the
// folder is not one; those of Model::Digests.
Result<std::optional<PackedCache>> FindPackedCache(const model::Model& model, const std::optional<std::string>& folder);

struct PackOptions {
  uint32_t threads = 1;
  std::function<void(uint64_t done, uint64_t total)> progress = nullptr;  // while packing
};

struct CachedWeights {
  std::shared_ptr<const engine::Weights> weights;
  WeightsSource source = WeightsSource::kPacked;
};

// Failures: those of engine::PackWeights.
Result<CachedWeights> LoadWeights(const model::Model& model, const std::optional<PackedCache>& cache,
                                  const PackOptions& options, world::LogSink& log);

// Both for whoever loads models by itself; warnings go to standard error.
verify::WeightsLoader WeightsLoaderOf(const std::optional<std::string>& folder);

}  // namespace samebit::cli
