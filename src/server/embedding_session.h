// An embeddings request that waits for its vectors; its answer is written on the work thread.
#pragma once

#include <memory>

#include "server/answer_port.h"
#include "server/embed_queue.h"
#include "server/prepare_embedding.h"
#include "server/work_queue.h"

namespace samebit::server {

class EmbeddingSession final : public EmbedSession, public std::enable_shared_from_this<EmbeddingSession> {
 public:
  EmbeddingSession(openai::EmbeddingAnswer answer, std::shared_ptr<AnswerPort> port, WorkQueue& work)
      : answer_(std::move(answer)), port_(std::move(port)), work_(work) {}

  void OnVectors(Result<std::vector<std::vector<float>>> vectors) override;

 private:
  openai::EmbeddingAnswer answer_;
  const std::shared_ptr<AnswerPort> port_;
  WorkQueue& work_;
};

}  // namespace samebit::server
