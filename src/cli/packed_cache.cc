#include "cli/packed_cache.h"

#include "engine/packed_file.h"
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

Result<CachedWeights> LoadWeights(const model::Model& model, const PackedCacheOptions& options, world::LogSink& log) {
  CachedWeights loaded;
  if (!options.folder) {
    ASSIGN_OR_RETURN(loaded.weights, engine::PackWeights(model, options.threads, options.progress));
    return loaded;
  }
  if (world::KindOf(*options.folder) != world::PathKind::kFolder)
    return Error{ErrorCode::kNotFound, "--packed-cache: " + *options.folder + ": expected a folder, found none"};
  ASSIGN_OR_RETURN(const std::vector<model::FileDigest> files, model.Digests());
  const PackedFile form(model, model::DigestOfFiles(files));
  const std::string path = *options.folder + "/" + form.name();

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
    ASSIGN_OR_RETURN(CachedWeights loaded, LoadWeights(model, {.folder = folder, .threads = threads}, log));
    return std::move(loaded.weights);
  };
}

}  // namespace samebit::cli
