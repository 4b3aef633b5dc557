// A team of threads that run one function together (SPMD): each worker gets its index, splits work by it, and meets the
// others at barriers. Partitions are static: what a worker computes depends on sizes and on how many workers a run has.
// Neither can move a bit: no output is ever shared between two workers.
//
// Workers spin for a short while between runs and at barriers and then sleep in the kernel, so an idle team costs
// nothing. A team whose cores are taken by others would meet at hundreds of barriers a step, each a wait for a thread that
// has no core: then it lets its first worker work alone for some runs (docs/design/0011).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace samebit::kernels {

class Team;

struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool empty() const { return begin >= end; }
  uint32_t size() const { return end - begin; }
};

// The `index`th of `count` contiguous parts of [0, items); sizes differ by at most one.
inline Range PartOf(uint32_t items, uint32_t index, uint32_t count) {
  return {static_cast<uint32_t>(uint64_t{items} * index / count),
          static_cast<uint32_t>(uint64_t{items} * (index + 1) / count)};
}

// One thread's view of a run. Valid during the run only.
class Worker {
 public:
  Worker(Team* team, uint32_t index, uint32_t count) : team_(team), index_(index), count_(count) {}
  uint32_t index() const { return index_; }
  uint32_t count() const { return count_; }
  Range Part(uint32_t items) const { return PartOf(items, index_, count_); }
  // Returns when every worker of the team has called it; what others wrote before is visible after.
  void Barrier();

 private:
  Team* team_;
  uint32_t index_;
  uint32_t count_;
};

class Team {
 public:
  // threads >= 1, the caller's included. Every thread enters the law's float environment. current_cpu: says which core
  // the calling thread runs on (this module asks the system nothing); null: nobody notices when workers share one.
  explicit Team(uint32_t threads, int (*current_cpu)() = nullptr);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  uint32_t size() const { return count_; }

  // Runs `work` on every worker, the calling thread being worker 0; returns when all have finished. Not reentrant.
  // After a run in which workers often had to wait for the core of another worker, the next runs have one worker only,
  // for a while that doubles as long as the team is disturbed. How many workers there are cannot move a bit.
  void Run(const std::function<void(Worker&)>& work);

  uint64_t runs_alone() const { return runs_alone_; }  // of a team of several; for tests and reports

 private:
  friend class Worker;
  void Loop(uint32_t index);
  void RunTogether(const std::function<void(Worker&)>& work);
  void WaitAtBarrier();

  uint32_t count_;
  int (*current_cpu_)();
  const std::function<void(Worker&)>* work_ = nullptr;
  alignas(64) std::atomic<uint32_t> run_{0};         // rises by one per run
  alignas(64) std::atomic<uint32_t> arrived_{0};     // workers at the current barrier
  alignas(64) std::atomic<uint32_t> generation_{0};  // rises by one per barrier passed
  std::atomic<int> sleeper_cpu_{-1};                 // where a worker went to sleep at the current barrier
  std::atomic<uint32_t> shared_cores_{0};            // barriers of this run whose last worker came on a sleeper's core
  uint32_t alone_left_ = 0;                          // runs still to be made alone
  uint32_t alone_next_ = 4;                          // how many the next disturbance brings
  uint64_t runs_alone_ = 0;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace samebit::kernels
