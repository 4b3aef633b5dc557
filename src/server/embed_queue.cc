#include "server/embed_queue.h"

#include <algorithm>

namespace samebit::server {
namespace {

// Texts that the embedder knows of: enough to fill a pass, few enough that a new request is soon among them.
constexpr size_t kRunningMax = 64;

}  // namespace

EmbedQueue::EmbedQueue(std::unique_ptr<engine::Embedder> embedder, uint64_t texts_max)
    : embedder_(std::move(embedder)), texts_max_(texts_max) {}

Status EmbedQueue::Submit(std::vector<engine::EmbedRequest> requests, std::shared_ptr<EmbedSession> session) {
  {
    const std::lock_guard lock(mutex_);
    if (cancel_all_) return Error{ErrorCode::kCancelled, "the server is stopping"};
    // A request that is larger than the whole queue is let in when it is alone: it could never come later.
    if (texts_in_flight_ > 0 && texts_in_flight_ + requests.size() > texts_max_) {
      return Error{ErrorCode::kCapacity, "the queue is full: " + std::to_string(texts_in_flight_) +
                                             " texts are in flight and at most " + std::to_string(texts_max_) +
                                             " may be"};
    }
    texts_in_flight_ += requests.size();
    const auto job = std::make_shared<Job>();
    job->vectors.resize(requests.size());
    job->requests = std::move(requests);
    job->session = std::move(session);
    new_jobs_.push_back(job);
  }
  if (wake_) wake_();
  return {};
}

void EmbedQueue::Cancel(std::shared_ptr<const EmbedSession> session) {
  {
    const std::lock_guard lock(mutex_);
    cancels_.push_back(std::move(session));
  }
  if (wake_) wake_();
}

void EmbedQueue::CancelAll() {
  {
    const std::lock_guard lock(mutex_);
    cancel_all_ = true;
  }
  if (wake_) wake_();
}

uint64_t EmbedQueue::texts_in_flight() const {
  const std::lock_guard lock(mutex_);
  return texts_in_flight_;
}

bool EmbedQueue::HasWork() const {
  const std::lock_guard lock(mutex_);
  return texts_in_flight_ > 0 || !cancels_.empty();
}

void EmbedQueue::Step() {
  TakeCommands();
  if (jobs_.empty()) return;
  SubmitTexts();
  embedder_->Step();
  CollectVectors();
}

void EmbedQueue::TakeCommands() {
  std::vector<std::shared_ptr<const EmbedSession>> cancels;
  bool cancel_all = false;
  {
    const std::lock_guard lock(mutex_);
    jobs_.insert(jobs_.end(), new_jobs_.begin(), new_jobs_.end());
    new_jobs_.clear();
    cancels.swap(cancels_);
    cancel_all = cancel_all_;
  }
  std::erase_if(jobs_, [&](const std::shared_ptr<Job>& job) {
    const bool left = std::find(cancels.begin(), cancels.end(), job->session) != cancels.end();
    if (!left && !cancel_all) return false;
    for (const auto& [id, place] : job->running) embedder_->Cancel(id);
    if (left) job->session = nullptr;  // nobody listens
    End(*job, Error{ErrorCode::kCancelled, "the server is stopping"});
    return true;
  });
}

// One text of each request in turn.
void EmbedQueue::SubmitTexts() {
  size_t running = 0;
  for (const auto& job : jobs_) running += job->running.size();
  for (bool any = true; any && running < kRunningMax;) {
    any = false;
    for (const auto& job : jobs_) {
      if (job->submitted == job->requests.size() || running == kRunningMax) continue;
      const size_t place = job->submitted++;
      // Whoever prepared the request has checked it by the embedder's own limits.
      const Result<engine::EmbedId> id = embedder_->Submit(std::move(job->requests[place]));
      CHECK(id.ok());
      job->running.emplace(*id, place);
      ++running;
      any = true;
    }
  }
}

void EmbedQueue::CollectVectors() {
  std::erase_if(jobs_, [&](const std::shared_ptr<Job>& job) {
    std::optional<Error> error;
    std::erase_if(job->running, [&](const auto& entry) {
      std::optional<Result<std::vector<float>>> vector = embedder_->Take(entry.first);
      if (!vector) return false;
      ++job->ended;
      if (vector->ok())
        job->vectors[entry.second] = std::move(*vector).value();
      else if (!error)
        error = vector->error();
      return true;
    });
    if (error) {
      for (const auto& [id, place] : job->running) embedder_->Cancel(id);
      End(*job, *error);
      return true;
    }
    if (job->ended < job->vectors.size()) return false;
    End(*job, std::move(job->vectors));
    return true;
  });
}

void EmbedQueue::End(Job& job, Result<std::vector<std::vector<float>>> vectors) {
  {
    const std::lock_guard lock(mutex_);
    texts_in_flight_ -= job.requests.size();
  }
  if (job.session) job.session->OnVectors(std::move(vectors));
}

}  // namespace samebit::server
