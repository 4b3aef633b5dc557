#include "verify/remote/load.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

namespace samebit::verify {
namespace {

// How often the server is asked for its count. A small model answers in a few of these.
constexpr auto kCountEvery = std::chrono::milliseconds(10);

class Drive {
 public:
  Drive(const Site& site, const Manner& manner, const RemoteLoad& load)
      : site_(site), manner_(manner), load_(load), started_(load.in_flight) {
    driven_.results.resize(load.requests.size());
    running_.assign(load.requests.size(), false);
  }

  Result<RemoteDriven> Run(const ServerCount& count, const std::function<bool(uint64_t)>& watch) {
    std::vector<std::thread> workers;
    for (uint32_t i = 0; i < load_.in_flight; ++i) workers.emplace_back([this] { Work(); });
    bool cancelled = false;
    {
      std::unique_lock lock(mutex_);
      while (!finished()) {
        changed_.wait_for(lock, kCountEvery);
        const uint64_t tokens = tokens_done_;
        lock.unlock();
        if (count && load_.in_flight > 1) Count(count);
        cancelled = !watch(tokens);
        lock.lock();
        if (cancelled) break;
      }
      leaving_ = cancelled;
    }
    for (std::thread& worker : workers) worker.join();
    if (cancelled) return Error{ErrorCode::kCancelled, "replay was cancelled"};
    for (RemoteResult& result : driven_.results)
      if (!result.told && result.error.empty()) result.error = "not asked any more, after: " + first_failure_;
    return std::move(driven_);
  }

 private:
  bool finished() const { return compared_running_ == 0 && (next_ == load_.requests.size() || driven_.gave_up); }

  void Count(const ServerCount& count) {
    const std::optional<uint32_t> running = count();
    if (!running) return;
    ++driven_.counts_taken;
    driven_.running_counted_max = std::max(driven_.running_counted_max.value_or(0), *running);
  }

  void Work() {
    const auto client = Connect(site_);
    started_.arrive_and_wait();
    std::unique_lock lock(mutex_);
    while (!leaving_) {
      const bool more = next_ < load_.requests.size() && !driven_.gave_up;
      const bool company_first = load_.company && company_running_ < load_.company_min;
      if (finished()) break;
      if (more && !company_first) AskCompared(*client, lock);
      else if (load_.company && load_.in_flight > 1) AskCompany(*client, lock);
      else break;
    }
    changed_.notify_all();
  }

  // One more is in flight: everyone who is learns of it.
  void Begin() {
    ++in_flight_;
    for (size_t i = 0; i < running_.size(); ++i)
      if (running_[i]) driven_.results[i].together_max = std::max(driven_.results[i].together_max, in_flight_);
  }

  void AskCompared(http::Client& client, std::unique_lock<std::mutex>& lock) {
    const size_t index = next_++;
    running_[index] = true;
    ++compared_running_;
    Begin();
    lock.unlock();
    auto told = AskServer(client, site_, load_.requests[index], manner_);
    lock.lock();
    --in_flight_;
    --compared_running_;
    running_[index] = false;
    RemoteResult& result = driven_.results[index];
    if (told.ok()) {
      tokens_done_ += uint64_t{load_.requests[index].tokens_max} * load_.requests[index].samples;
      result.told = std::move(*told);
    } else {
      result.error = told.error().message;
      if (first_failure_.empty()) first_failure_ = result.error;
      driven_.gave_up = driven_.gave_up || told.error().code == ErrorCode::kIo;
    }
    changed_.notify_all();
  }

  void AskCompany(http::Client& client, std::unique_lock<std::mutex>& lock) {
    WireRequest request = load_.company(driven_.company_started++);
    request.streamed = true;  // so that it can be left
    ++company_running_;
    Begin();
    lock.unlock();
    const bool answered = AskServer(client, site_, request, manner_, [this] {
                            std::lock_guard guard(mutex_);
                            return !leaving_ && !driven_.gave_up;
                          }).ok();
    if (!answered) std::this_thread::sleep_for(kCountEvery);  // a server that refuses all company is not stormed
    lock.lock();
    driven_.company_answered += answered;
    --in_flight_;
    --company_running_;
  }

  const Site& site_;
  const Manner& manner_;
  const RemoteLoad& load_;
  std::latch started_;  // all begin together: a fast server would have answered the first before the last is there
  std::mutex mutex_;  // everything below
  std::condition_variable changed_;
  RemoteDriven driven_;
  std::vector<bool> running_;  // per compared request
  size_t next_ = 0;
  uint32_t in_flight_ = 0, company_running_ = 0, compared_running_ = 0;
  uint64_t tokens_done_ = 0;
  bool leaving_ = false;
  std::string first_failure_;
};

}  // namespace

Result<RemoteDriven> DriveServer(const Site& site, const Manner& manner, const RemoteLoad& load,
                                 const ServerCount& count, const std::function<bool(uint64_t)>& watch) {
  return Drive(site, manner, load).Run(count, watch);
}

}  // namespace samebit::verify
