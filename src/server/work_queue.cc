#include "server/work_queue.h"

namespace samebit::server {

WorkQueue::WorkQueue() : thread_([this] { Loop(); }) {}

void WorkQueue::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void WorkQueue::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queue_.push_back(std::move(work));
  }
  wakes_.notify_one();
}

size_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + running_;
}

void WorkQueue::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wakes_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      running_ = 1;
      lock.unlock();
      work();
    }
    lock.lock();
    running_ = 0;
  }
}

}  // namespace samebit::server
