#include "engine/embedder.h"

#include <string>

#include "engine/check_request.h"
#include "engine/embed_kinds.h"

namespace samebit::engine {

Result<std::unique_ptr<Embedder>> Embedder::Make(std::shared_ptr<const Weights> weights,
                                                 const EngineOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options, *weights));
  if (weights->config.kind == model::ModelKind::kEncoder) return MakeEmbedderOfEncoder(std::move(weights), options);
  return MakeEmbedderOfDecoder(std::move(weights), options);
}

bool Embedder::has_pooling(Pooling pooling) const {
  return pooling != Pooling::kFirst || weights_->config.kind == model::ModelKind::kEncoder;
}

Result<EmbedId> Embedder::Submit(EmbedRequest request) {
  if (request.tokens.empty()) return Error{ErrorCode::kInvalidArgument, "a text without tokens has no vector"};
  const uint32_t vocabulary = weights_->config.vocabulary;
  for (const TokenId id : request.tokens) {
    if (id >= 0 && static_cast<uint32_t>(id) < vocabulary) continue;
    return Error{ErrorCode::kInvalidArgument, "token " + std::to_string(id) + " is not in the vocabulary of " +
                                                  std::to_string(vocabulary)};
  }
  if (request.tokens.size() > tokens_max_)
    return Error{ErrorCode::kContextOverflow, "a text of " + std::to_string(request.tokens.size()) +
                                                  " tokens; this model reads at most " + std::to_string(tokens_max_)};
  if (!has_pooling(request.pooling))
    return Error{ErrorCode::kInvalidArgument,
                 std::string("pooling '") + PoolingName(request.pooling) +
                     "': the first row of a decoder has seen the first token only; use 'mean' or 'last'"};
  const EmbedId id = next_id_++;
  Queue(id, std::move(request));
  return id;
}

Pooling PoolingOf(const model::ModelConfig& config) { return config.pooling.value_or(Pooling::kMean); }
bool NormalizesVectors(const model::ModelConfig& config) { return config.normalized_vectors.value_or(true); }

Result<std::vector<std::vector<float>>> Embed(Embedder& embedder, std::vector<EmbedRequest> requests) {
  std::vector<EmbedId> ids;
  std::optional<Error> error;
  for (EmbedRequest& request : requests) {
    const Result<EmbedId> id = embedder.Submit(std::move(request));
    if (!id.ok()) {
      for (const EmbedId earlier : ids) embedder.Cancel(earlier);
      return id.error();
    }
    ids.push_back(*id);
  }
  while (embedder.Step()) {
  }
  std::vector<std::vector<float>> vectors;
  for (const EmbedId id : ids) {
    std::optional<Result<std::vector<float>>> vector = embedder.Take(id);
    CHECK(vector.has_value());
    if (vector->ok())
      vectors.push_back(std::move(*vector).value());
    else if (!error)
      error = vector->error();
  }
  if (error) return *error;
  return vectors;
}

}  // namespace samebit::engine
