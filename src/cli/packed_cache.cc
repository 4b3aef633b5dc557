#include "cli/packed_cache.h"

#include "model/model_digest.h"
#include "world/file.h"

namespace samebit::cli {
namespace {

using engine::PackedFile;
using engine::Weights;

// The weights of a file in the folder. Failures: why they are not there, or not to be used.
Result<std::shared_ptr<const Weights>> MapWeights(const model::Model& model, const PackedFile& form,
                                                  const std::string& path, uint32_t threads) {
  ASSIGN_OR_RETURN(world::MappedFile opened, world::MappedFile::OpenOwn(path));
  const auto mapped = std::make_shared<const world::MappedFile>(std::move(opened));
  RETURN_IF_ERROR(form.Check(mapped->bytes(), threads));
  const std::shared_ptr<const std::byte> bytes(mapped, mapped->bytes().data());
  return engine::AssembleWeights(
      model, [&](const engine::MatrixRole& matrix) { return form.Matrix(bytes, matrix.role, matrix.layer); });
}

Status Keep(const Weights& weights, const PackedFile& form, const std::string& path, uint32_t threads) {
  std::string header;
  return world::WriteFileAtomically(path, form.Write(weights, threads, &header));
}

}  // namespace

Result<std::optional<PackedCache>> FindPackedCache(const model::Model& model,
                                                   const std::optional<std::string>& folder) {
  if (!folder) return std::optional<PackedCache>();
  if (world::KindOf(*folder) != world::PathKind::kFolder)
    return Error{ErrorCode::kNotFound, "--packed-cache: " + *folder + ": expected a folder, found none"};
  ASSIGN_OR_RETURN(const std::vector<model::FileDigest> files, model.Digests());
  PackedFile form(model, model::DigestOfFiles(files));
  std::string path = *folder + "/" + form.name();
  return std::optional(PackedCache{std::move(path), std::move(form)});
}

Result<CachedWeights> LoadWeights(const model::Model& model, const std::optional<PackedCache>& cache,
                                  const PackOptions& options, world::LogSink& log) {
  CachedWeights loaded;
  if (!cache) {
    ASSIGN_OR_RETURN(loaded.weights, engine::PackWeights(model, options.threads, options.progress));
    return loaded;
  }
  const auto& [path, form] = *cache;
  auto mapped = MapWeights(model, form, path, options.threads);
  if (mapped.ok()) return CachedWeights{std::move(*mapped), WeightsSource::kMapped};
  if (mapped.error().code == ErrorCode::kMalformed)
    log.Write(world::LogLevel::kWarning, path + ": " + mapped.error().message + "; the weights are packed anew");
  else if (mapped.error().code != ErrorCode::kNotFound)
    log.Write(world::LogLevel::kWarning, mapped.error().message + "; the weights are packed anew");

  ASSIGN_OR_RETURN(loaded.weights, engine::PackWeights(model, options.threads, options.progress));
  const Status kept = Keep(*loaded.weights, form, path, options.threads);
  if (kept.ok())
    loaded.source = WeightsSource::kPackedAndKept;
  else
    log.Write(world::LogLevel::kWarning, kept.error().message + "; the packed weights are not kept");
  return loaded;
}

verify::WeightsLoader WeightsLoaderOf(const std::optional<std::string>& folder) {
  return [folder](const model::Model& model, uint32_t threads) -> Result<std::shared_ptr<const Weights>> {
    world::StderrLog log;
    ASSIGN_OR_RETURN(const std::optional<PackedCache> cache, FindPackedCache(model, folder));
    ASSIGN_OR_RETURN(CachedWeights loaded, LoadWeights(model, cache, {.threads = threads}, log));
    return std::move(loaded.weights);
  };
}

}  // namespace samebit::cli
