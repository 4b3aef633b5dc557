// Partitions cover their range once; barriers order memory; a team can be reused, also with more threads than cores.
#include "kernels/team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace samebit::kernels {
namespace {

TEST(PartOf, covers_every_item_once_in_order_and_evenly) {
  for (uint32_t items = 0; items < 40; ++items) {
    for (uint32_t count = 1; count <= 9; ++count) {
      uint32_t next = 0, smallest = items, largest = 0;
      for (uint32_t index = 0; index < count; ++index) {
        const Range part = PartOf(items, index, count);
        EXPECT_EQ(part.begin, next);
        EXPECT_LE(part.begin, part.end);
        next = part.end;
        smallest = std::min(smallest, part.size());
        largest = std::max(largest, part.size());
      }
      EXPECT_EQ(next, items);
      EXPECT_LE(largest - smallest, 1u);
    }
  }
}

TEST(Team, runs_the_work_once_on_each_worker) {
  for (uint32_t threads = 1; threads <= 4; ++threads) {
    Team team(threads);
    ASSERT_EQ(team.size(), threads);
    std::vector<int> calls(threads, 0);
    for (int run = 1; run <= 50; ++run) {
      team.Run([&](Worker& worker) {
        EXPECT_EQ(worker.count(), threads);
        ++calls[worker.index()];
      });
      EXPECT_EQ(calls, std::vector<int>(threads, run));
    }
  }
}

TEST(Team, what_was_written_before_a_barrier_is_read_after_it) {
  // Each round every worker reads what all others wrote in the round before: plain memory, ordered by barriers only.
  for (const uint32_t threads : {2u, 3u, 4u, 8u}) {  // more than the cores of most test machines
    Team team(threads);
    constexpr uint32_t kRounds = 200;
    std::vector<uint64_t> now(threads, 1), next(threads, 0);
    team.Run([&](Worker& worker) {
      for (uint32_t round = 0; round < kRounds; ++round) {
        uint64_t sum = round;
        for (const uint64_t value : now) sum += value;
        next[worker.index()] = sum * (worker.index() + 1);
        worker.Barrier();
        now[worker.index()] = next[worker.index()];
        worker.Barrier();
      }
    });
    std::vector<uint64_t> expected(threads, 1), following(threads);
    for (uint32_t round = 0; round < kRounds; ++round) {
      uint64_t sum = round;
      for (const uint64_t value : expected) sum += value;
      for (uint32_t i = 0; i < threads; ++i) following[i] = sum * (i + 1);
      expected = following;
    }
    EXPECT_EQ(now, expected);
  }
}

TEST(Team, sleeping_workers_wake_up) {
  Team team(3);
  uint32_t done[3] = {};
  for (int run = 0; run < 5; ++run) {
    // Long enough for the workers to stop spinning and sleep.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    team.Run([&](Worker& worker) { ++done[worker.index()]; });
  }
  for (const uint32_t count : done) EXPECT_EQ(count, 5u);
}

TEST(Team, can_be_destroyed_without_a_run_and_right_after_one) {
  for (int i = 0; i < 50; ++i) Team unused(3);
  for (int i = 0; i < 50; ++i) {
    Team team(2);
    uint32_t sum[2] = {};
    team.Run([&](Worker& worker) { sum[worker.index()] = 1; });
    EXPECT_EQ(sum[0] + sum[1], 2u);
  }
}

// The core that the calling thread runs on becomes its only one, and then every other worker's: as on a machine whose
// other cores belong to somebody else. Each phase is long enough for the waiting worker to go to sleep.
void RunOnOneCore(Team& team, std::atomic<uint32_t>* workers) {
  cpu_set_t one_core;
  CPU_ZERO(&one_core);
  CPU_SET(sched_getcpu(), &one_core);
  team.Run([&](Worker& worker) {
    ++*workers;
    ASSERT_EQ(sched_setaffinity(0, sizeof one_core, &one_core), 0);
    for (int barrier = 0; barrier < 20; ++barrier) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(worker.index());
      while (std::chrono::steady_clock::now() < until) continue;
      worker.Barrier();
    }
  });
}

TEST(Team, works_alone_for_a_while_when_its_workers_have_one_core) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  Team team(2, sched_getcpu);
  std::atomic<uint32_t> workers{0};
  RunOnOneCore(team, &workers);
  EXPECT_EQ(workers, 2u);
  EXPECT_EQ(team.runs_alone(), 0u);
  for (int run = 0; run < 4; ++run) RunOnOneCore(team, &workers);
  EXPECT_EQ(workers, 6u) << "the runs after a disturbed one have one worker";
  EXPECT_EQ(team.runs_alone(), 4u);
  RunOnOneCore(team, &workers);
  EXPECT_EQ(workers, 8u) << "then the team is tried again";
  for (int run = 0; run < 8; ++run) RunOnOneCore(team, &workers);
  EXPECT_EQ(team.runs_alone(), 12u) << "and left alone for twice as long";
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace samebit::kernels
