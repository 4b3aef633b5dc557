#include "kernels/team.h"

#include "arith/environment.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace samebit::kernels {

namespace {

// About 50 us of spinning: longer than any gap between two steps of a busy engine, short enough to be invisible in an
// idle one.
constexpr int kSpinsBeforeSleep = 20000;
// A barrier is normally passed within a microsecond or with the imbalance of one matrix. After this the other thread
// has probably lost its core: sleeping gives it ours, and the kernel runs a thread that is woken before one that used
// up its slice. (Yielding instead: 50 ms a token in place of 35 on two cores shared with three other processes.)
constexpr int kSpinsAtBarrier = 2000;

// Disturbed: at so many barriers of a run, and at more than one in so many, the last worker ran on the core of one that
// had gone to sleep for it, so it had no core of its own. (Sleeping alone says nothing: shares are never quite equal.)
constexpr uint32_t kSharedCoresMin = 4, kBarriersPerSharedCore = 4;
// Runs alone after a first disturbance, and at most. A run that tries the team again may be five times slower than one
// alone: one in 64 costs less than a tenth.
constexpr uint32_t kAloneFirst = 4, kAloneMax = 64;

inline void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Worker::Barrier() {
  if (count_ > 1) team_->WaitAtBarrier();
}

Team::Team(uint32_t threads, int (*current_cpu)()) : count_(threads < 1 ? 1 : threads), current_cpu_(current_cpu) {
  arith::EnterFloatEnvironment();
  for (uint32_t index = 1; index < count_; ++index) threads_.emplace_back([this, index] { Loop(index); });
}

Team::~Team() {
  stop_.store(true, std::memory_order_relaxed);
  run_.fetch_add(1, std::memory_order_release);
  run_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::Loop(uint32_t index) {
  arith::EnterFloatEnvironment();
  uint32_t seen = 0;
  for (;;) {
    int spins = 0;
    while (run_.load(std::memory_order_acquire) == seen) {
      if (++spins < kSpinsBeforeSleep) {
        Pause();
      } else {
        run_.wait(seen, std::memory_order_acquire);
      }
    }
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    Worker worker(this, index, count_);
    (*work_)(worker);
    WaitAtBarrier();
  }
}

void Team::Run(const std::function<void(Worker&)>& work) {
  arith::EnterFloatEnvironment();  // the calling thread may be a different one each time
  const bool alone = alone_left_ > 0;
  if (count_ == 1 || alone) {
    Worker worker(this, 0, 1);
    work(worker);
    if (alone) {
      --alone_left_;
      ++runs_alone_;
    }
    return;
  }
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  shared_cores_.store(0, std::memory_order_relaxed);
  RunTogether(work);
  const uint32_t barriers = generation_.load(std::memory_order_relaxed) - generation;
  const uint32_t shared = shared_cores_.load(std::memory_order_relaxed);
  if (shared < kSharedCoresMin || shared * kBarriersPerSharedCore <= barriers) {
    alone_next_ = kAloneFirst;
  } else {
    alone_left_ = alone_next_;
    alone_next_ = alone_next_ * 2 < kAloneMax ? alone_next_ * 2 : kAloneMax;
  }
}

void Team::RunTogether(const std::function<void(Worker&)>& work) {
  Worker worker(this, 0, count_);
  work_ = &work;
  run_.fetch_add(1, std::memory_order_release);
  run_.notify_all();
  work(worker);
  WaitAtBarrier();
}

void Team::WaitAtBarrier() {
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    arrived_.store(0, std::memory_order_relaxed);
    const int sleeper_cpu = sleeper_cpu_.exchange(-1, std::memory_order_relaxed);
    if (sleeper_cpu >= 0 && sleeper_cpu == current_cpu_()) shared_cores_.fetch_add(1, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  int spins = 0;
  while (generation_.load(std::memory_order_acquire) == generation) {
    if (++spins < kSpinsAtBarrier) {
      Pause();
    } else {
      if (spins == kSpinsAtBarrier && current_cpu_ != nullptr)
        sleeper_cpu_.store(current_cpu_(), std::memory_order_relaxed);
      generation_.wait(generation, std::memory_order_acquire);
    }
  }
}

}  // namespace samebit::kernels
