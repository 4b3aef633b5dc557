#include "server/first_byte_watch.h"

namespace samebit::server {
namespace {

constexpr uint32_t kRetrySeconds = 10;  // the queue is long; a client that asks at once only makes it longer

}  // namespace

void FirstByteWatch::Watch(const std::shared_ptr<AnswerPort>& port, const std::shared_ptr<Session>& session) {
  if (seconds_ == 0) return;
  const std::lock_guard lock(mutex_);
  waiting_.push_back({clock_.monotonic_ns() + uint64_t{seconds_} * 1'000'000'000, port, session});
}

void FirstByteWatch::Look() {
  std::list<Waiting> late;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t now_ns = clock_.monotonic_ns();
    // Those that are answered go too, so that the list is as long as the work in flight.
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      const auto port = it->port.lock();
      const bool is_late = port && !port->begun() && it->limit_ns <= now_ns;
      const auto next = std::next(it);
      if (is_late)
        late.splice(late.end(), waiting_, it);
      else if (!port || port->begun())
        waiting_.erase(it);
      it = next;
    }
  }
  for (const Waiting& one : late) {
    const auto port = one.port.lock();
    if (!port) continue;
    openai::ApiError error = openai::InvalidValue(
        "", "the answer did not begin within " + std::to_string(seconds_) + " s", "first_byte_timeout");
    error.status = 503;
    error.type = "server_error";
    error.retry_after_seconds = kRetrySeconds;
    port->SendError(error);
    if (const auto session = one.session.lock()) engine_.Cancel(session);
  }
}

}  // namespace samebit::server
