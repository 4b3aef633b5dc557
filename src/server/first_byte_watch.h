// Ends requests whose answer does not begin in time. Any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "server/answer_port.h"
#include "server/engine_thread.h"

namespace samebit::server {

class FirstByteWatch {
 public:
  // seconds: from Watch to the first byte; 0: for ever. The clock and the engine outlive it.
  FirstByteWatch(uint32_t seconds, const world::Clock& clock, EngineThread& engine)
      : seconds_(seconds), clock_(clock), engine_(engine) {}

  void Watch(const std::shared_ptr<AnswerPort>& port, const std::shared_ptr<Session>& session);
  // Answers the late ones with 503 and cancels their work. To be called every now and then.
  void Look();

 private:
  struct Waiting {
    uint64_t limit_ns = 0;
    std::weak_ptr<AnswerPort> port;
    std::weak_ptr<Session> session;
  };

  const uint32_t seconds_;
  const world::Clock& clock_;
  EngineThread& engine_;
  std::mutex mutex_;
  std::list<Waiting> waiting_;  // in the order of their limits
};

}  // namespace samebit::server
