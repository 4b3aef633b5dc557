// A parsed embeddings request to what the embedder runs and what the answer will say about it. Pure; on the work thread.
#pragma once

#include <variant>
#include <vector>

#include "engine/embedder.h"
#include "openai/embedding_request.h"
#include "server/prepare.h"

namespace samebit::server {

struct PreparedEmbedding {
  std::vector<engine::EmbedRequest> requests;  // one per text; moved to the embedder
  openai::EmbeddingAnswer answer;              // everything but the vectors
};

std::variant<PreparedEmbedding, openai::ApiError> PrepareEmbedding(openai::EmbeddingRequest request,
                                                                   const PrepareInput& input);

// The document of vectors of this form.
contract::Fingerprint EmbeddingFingerprintOf(const ServedModel& model, const openai::VectorForm& form);

// The refusal of an endpoint that generates, by a model that does not.
openai::ApiError GeneratesNothing(const ServedModel& model);

}  // namespace samebit::server
