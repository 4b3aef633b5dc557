// One thread that does what would hold up others: parsing, rendering, tokenizing, building long answers. In order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace samebit::server {

class WorkQueue {
 public:
  WorkQueue();
  ~WorkQueue() { Stop(); }

  // What runs is waited for; what is queued, or posted later, is dropped.
  void Stop();

  void Post(std::function<void()> work);  // any thread
  size_t waiting() const;

 private:
  void Loop();

  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  size_t running_ = 0;
  std::thread thread_;
};

}  // namespace samebit::server
