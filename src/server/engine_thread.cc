#include "server/engine_thread.h"

#include <algorithm>

namespace samebit::server {

EngineThread::EngineThread(std::unique_ptr<engine::Engine> engine, uint32_t queue_max,
                           std::function<void(std::vector<std::shared_ptr<Session>>)> wake, SideWork* side)
    : engine_(std::move(engine)),
      context_max_(engine_ ? engine_->context_max() : 0),
      sequences_max_(engine_ ? engine_->options().sequences_max : 0),
      samples_max_(sequences_max_ + queue_max),
      wake_(std::move(wake)),
      side_(side),
      thread_([this] { Loop(); }) {}

EngineThread::~EngineThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

Status EngineThread::Submit(std::vector<engine::Request> requests, std::shared_ptr<Session> session) {
  CHECK(engine_ != nullptr);
  uint64_t samples = 0, prompt_tokens = 0;
  for (const engine::Request& request : requests) {
    samples += std::max(request.samples, request.beam_width);
    prompt_tokens += request.prompt.size() * std::max(request.samples, request.beam_width);
  }
  {
    const std::lock_guard lock(mutex_);
    if (cancel_all_ || stopping_) return Error{ErrorCode::kCancelled, "the server is stopping"};
    // A request that is larger than the whole queue is let in when it is alone: it could never come later.
    if (samples_in_flight_ > 0 && samples_in_flight_ + samples > samples_max_) {
      return Error{ErrorCode::kCapacity, "the queue is full: " + std::to_string(samples_in_flight_) +
                                             " answers are in flight and at most " + std::to_string(samples_max_) +
                                             " may be"};
    }
    samples_in_flight_ += samples;
    prompt_tokens_asked_ += prompt_tokens;
    jobs_.push_back({std::move(requests), std::move(session), samples});
  }
  wakes_.notify_one();
  return {};
}

void EngineThread::Cancel(std::shared_ptr<const Session> session) {
  {
    const std::lock_guard lock(mutex_);
    cancels_.push_back(std::move(session));
  }
  wakes_.notify_one();
}

void EngineThread::CancelAll() {
  {
    const std::lock_guard lock(mutex_);
    cancel_all_ = true;
  }
  wakes_.notify_one();
}

EngineLoad EngineThread::load() const {
  const std::lock_guard lock(mutex_);
  return {samples_in_flight_, sequences_max_, counters_, prompt_tokens_asked_};
}

void EngineThread::Nudge() {
  // The lock orders this after a look at HasWork that found nothing, and before the sleep that would miss it.
  { const std::lock_guard lock(mutex_); }
  wakes_.notify_one();
}

void EngineThread::Loop() {
  while (TakeCommands()) {
    if (side_ != nullptr) side_->Step();
    if (live_.empty()) continue;
    engine_->Step();
    CollectEnds();
    WakeTouched();
  }
}

bool EngineThread::TakeCommands() {
  std::vector<Job> jobs;
  std::vector<std::shared_ptr<const Session>> cancels;
  bool cancel_all = false;
  {
    std::unique_lock lock(mutex_);
    if (engine_) counters_ = engine_->counters();
    if (live_.empty()) {
      wakes_.wait(lock, [this] {
        return stopping_ || !jobs_.empty() || !cancels_.empty() || (side_ != nullptr && side_->HasWork());
      });
    }
    if (stopping_) return false;
    jobs.swap(jobs_);
    cancels.swap(cancels_);
    cancel_all = cancel_all_;
  }
  for (Job& job : jobs) Begin(std::move(job));
  for (const Live& live : live_) {
    if (cancel_all || std::find(cancels.begin(), cancels.end(), live.session) != cancels.end())
      engine_->Cancel(live.id);
  }
  return true;
}

void EngineThread::Begin(Job job) {
  std::vector<engine::RequestId> ids;
  std::vector<uint64_t> samples;
  for (uint32_t i = 0; i < job.requests.size(); ++i) {
    engine::TokenSink sink;
    if (job.session->wants_tokens()) {
      // The session outlives its requests: live_ holds it.
      Session* session = job.session.get();
      sink = [this, session, i](uint32_t sample, const engine::TokenRecord& token, std::string_view text) {
        session->OnToken(i, sample, token, text);
        const auto live = std::find_if(live_.begin(), live_.end(),
                                       [session](const Live& one) { return one.session.get() == session; });
        Touch(live->session);
      };
    }
    samples.push_back(std::max(job.requests[i].samples, job.requests[i].beam_width));
    const Result<engine::RequestId> id = engine_->Submit(std::move(job.requests[i]), std::move(sink));
    if (!id.ok()) {
      // All or nothing: those before it are cancelled and their ends go to nobody.
      for (const engine::RequestId earlier : ids) {
        engine_->Cancel(earlier);
        live_.push_back({earlier, 0, 0, nullptr});
      }
      Leave(job.samples);
      job.session->OnEnd(0, id.error());
      Touch(job.session);
      WakeTouched();
      return;
    }
    ids.push_back(*id);
  }
  for (uint32_t i = 0; i < ids.size(); ++i) live_.push_back({ids[i], i, samples[i], job.session});
  job.session->OnAccepted();
  Touch(job.session);
  WakeTouched();
}

void EngineThread::CollectEnds() {
  std::erase_if(live_, [&](const Live& live) {
    std::optional<Result<engine::Completion>> completion = engine_->Take(live.id);
    if (!completion) return false;
    Leave(live.samples);  // first: who hears of the end may ask for the next answer at once
    if (live.session != nullptr) {
      live.session->OnEnd(live.prompt_index, std::move(*completion));
      Touch(live.session);
    }
    return true;
  });
}

void EngineThread::Touch(const std::shared_ptr<Session>& session) {
  if (std::find(touched_.begin(), touched_.end(), session) == touched_.end()) touched_.push_back(session);
}

void EngineThread::WakeTouched() {
  if (touched_.empty()) return;
  wake_(std::move(touched_));
  touched_.clear();
}

void EngineThread::Leave(uint64_t samples) {
  const std::lock_guard lock(mutex_);
  samples_in_flight_ -= samples;
}

}  // namespace samebit::server
