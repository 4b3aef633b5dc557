// The one thread that drives the engine. Sessions are handed in from any thread; tokens and ends come back through their
// callbacks, on this thread, which therefore must be short.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/engine.h"

namespace samebit::server {

// Somebody who waits for the answers to one HTTP request: one engine request per prompt.
class Session {
 public:
  virtual ~Session() = default;
  // All of its requests were taken by the engine. Then tokens, then an end for each.
  virtual void OnAccepted() = 0;
  // Called only where wants_tokens().
  virtual void OnToken(uint32_t prompt_index, uint32_t sample_index, const engine::TokenRecord& token,
                       std::string_view text) = 0;
  // A request that the engine refuses ends the whole session with one call (prompt_index 0).
  virtual void OnEnd(uint32_t prompt_index, Result<engine::Completion> completion) = 0;
  virtual bool wants_tokens() const = 0;
  // What OnToken and OnEnd left behind may now be looked at; called from wherever `wake` of EngineThread calls it.
  virtual void Wake() = 0;
};

// For metrics; each value by itself is right, together they may be of different moments.
struct EngineLoad {
  uint64_t samples_in_flight = 0;
  uint64_t sequences_max = 0;
  engine::EngineCounters counters;
  uint64_t prompt_tokens_asked = 0;  // once for every sequence that begins with them
};

// Work of another kind that shares the thread: one short step of it between two of the engine's.
class SideWork {
 public:
  virtual ~SideWork() = default;
  virtual bool HasWork() const = 0;  // any thread
  virtual void Step() = 0;           // the engine's thread; does nothing where there is no work
};

class EngineThread {
 public:
  // wake: called after a step with the sessions that have something new. queue_max: samples that may wait beyond those
  // that run. engine: null where the model generates nothing. side: outlives the thread.
  EngineThread(std::unique_ptr<engine::Engine> engine, uint32_t queue_max,
               std::function<void(std::vector<std::shared_ptr<Session>>)> wake, SideWork* side = nullptr);
  ~EngineThread();  // requests in flight are dropped without an end

  // Failure: kCapacity (the queue is full), kCancelled (stopping). Any thread.
  Status Submit(std::vector<engine::Request> requests, std::shared_ptr<Session> session);
  // Its requests end before the next step; OnEnd comes with finish reason kCancelled. Any thread.
  void Cancel(std::shared_ptr<const Session> session);
  // Every request in flight, and all that come later.
  void CancelAll();

  // The side work has something to do. Any thread.
  void Nudge();

  EngineLoad load() const;
  uint32_t context_max() const { return context_max_; }

 private:
  struct Job {
    std::vector<engine::Request> requests;
    std::shared_ptr<Session> session;
    uint64_t samples = 0;
  };
  struct Live {
    engine::RequestId id = 0;
    uint32_t prompt_index = 0;
    uint64_t samples = 0;
    std::shared_ptr<Session> session;
  };

  void Loop();
  bool TakeCommands();  // false: stop
  void Begin(Job job);
  void CollectEnds();
  void Touch(const std::shared_ptr<Session>& session);
  void WakeTouched();
  void Leave(uint64_t samples);

  std::unique_ptr<engine::Engine> engine_;
  const uint32_t context_max_;
  const uint64_t sequences_max_;
  const uint64_t samples_max_;  // in flight
  const std::function<void(std::vector<std::shared_ptr<Session>>)> wake_;
  SideWork* const side_;

  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  std::vector<Job> jobs_;
  std::vector<std::shared_ptr<const Session>> cancels_;  // held, so that no later session can have its address
  uint64_t samples_in_flight_ = 0;
  uint64_t prompt_tokens_asked_ = 0;
  bool cancel_all_ = false, stopping_ = false;
  engine::EngineCounters counters_;

  // The engine thread's own.
  std::vector<Live> live_;
  std::vector<std::shared_ptr<Session>> touched_;
  std::thread thread_;
};

}  // namespace samebit::server
