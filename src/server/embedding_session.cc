#include "server/embedding_session.h"

#include "server/whole_answer.h"

namespace samebit::server {

void EmbeddingSession::OnVectors(Result<std::vector<std::vector<float>>> vectors) {
  if (!vectors.ok()) {
    const Error error = vectors.error();
    work_.Post([self = shared_from_this(), error] {
      self->port_->SendError(error.code == ErrorCode::kCancelled ? ServerStopping() : ToApiError(error, "input"));
    });
    return;
  }
  answer_.vectors = std::move(vectors).value();
  work_.Post([self = shared_from_this()] {
    const openai::EmbeddingAnswer& answer = self->answer_;
    openai::Usage usage;
    usage.prompt_tokens = answer.prompt_tokens;
    self->port_->CountAnswer(usage, {}, answer.model);
    self->port_->SendJson(EmbeddingAnswerJson(answer), ReproducibilityHeaders(answer.reproducibility));
  });
}

}  // namespace samebit::server
