// Embeddings requests on the engine's thread: between two steps of the engine one step of the embedder, so that neither
// keeps the other waiting for longer than a step. Requests take turns text by text: a large one does not hold up a small one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/embedder.h"
#include "server/engine_thread.h"

namespace samebit::server {

// Somebody who waits for the vectors of one HTTP request.
class EmbedSession {
 public:
  virtual ~EmbedSession() = default;
  // Once, on the engine's thread: all vectors in the order of the texts, or the first failure. Must be short.
  virtual void OnVectors(Result<std::vector<std::vector<float>>> vectors) = 0;
};

class EmbedQueue final : public SideWork {
 public:
  // texts_max: in flight. wake: called after a submission, from the submitting thread.
  EmbedQueue(std::unique_ptr<engine::Embedder> embedder, uint64_t texts_max);
  void WakeBy(std::function<void()> wake) { wake_ = std::move(wake); }

  // Failures: kCapacity (the queue is full), kCancelled (stopping). Any thread.
  Status Submit(std::vector<engine::EmbedRequest> requests, std::shared_ptr<EmbedSession> session);
  // Its client left: no OnVectors. Any thread.
  void Cancel(std::shared_ptr<const EmbedSession> session);
  // Every request in flight ends with kCancelled, and all that come later.
  void CancelAll();
  uint64_t texts_in_flight() const;

  // The engine's thread.
  bool HasWork() const override;
  void Step() override;

 private:
  struct Job {
    std::vector<engine::EmbedRequest> requests;
    std::shared_ptr<EmbedSession> session;
    size_t submitted = 0, ended = 0;
    std::map<engine::EmbedId, size_t> running;  // and its place among the vectors
    std::vector<std::vector<float>> vectors;
  };

  void TakeCommands();
  void SubmitTexts();
  void CollectVectors();
  void End(Job& job, Result<std::vector<std::vector<float>>> vectors);

  const std::unique_ptr<engine::Embedder> embedder_;
  const uint64_t texts_max_;
  std::function<void()> wake_;

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Job>> new_jobs_;
  std::vector<std::shared_ptr<const EmbedSession>> cancels_;  // held, so that no later session can have its address
  uint64_t texts_in_flight_ = 0;
  bool cancel_all_ = false;

  // The engine thread's own.
  std::deque<std::shared_ptr<Job>> jobs_;
};

}  // namespace samebit::server
