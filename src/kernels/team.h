// A team of threads that run one function together (SPMD): each worker gets its index, splits work by it, and meets the
// others at barriers. Partitions are static: which worker computes what depends on sizes alone, never on timing.
// (It could not move a bit anyway: no output is ever shared between two workers.)
//
// Workers spin for a short while between runs and at barriers and then sleep in the kernel, so an idle team costs
// nothing and a team whose cores are taken by others does not collapse.
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
  // threads >= 1, the caller's included. Every thread enters the law's float environment.
  explicit Team(uint32_t threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  uint32_t size() const { return count_; }

  // Runs `work` on every worker, the calling thread being worker 0; returns when all have finished. Not reentrant.
  void Run(const std::function<void(Worker&)>& work);

 private:
  friend class Worker;
  void Loop(uint32_t index);
  void WaitAtBarrier();

  uint32_t count_;
  const std::function<void(Worker&)>* work_ = nullptr;
  alignas(64) std::atomic<uint32_t> run_{0};         // rises by one per run
  alignas(64) std::atomic<uint32_t> arrived_{0};     // workers at the current barrier
  alignas(64) std::atomic<uint32_t> generation_{0};  // rises by one per barrier passed
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace samebit::kernels
