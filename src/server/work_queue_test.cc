#include "server/work_queue.h"

#include <gtest/gtest.h>

#include <future>

namespace samebit::server {
namespace {

TEST(WorkQueue, does_work_in_order_and_counts_what_is_left) {
  WorkQueue queue;
  std::vector<int> done;
  std::promise<void> gate, end;
  queue.Post([&] { gate.get_future().wait(); });
  for (int i = 0; i < 5; ++i) queue.Post([&done, i] { done.push_back(i); });
  queue.Post([&] { end.set_value(); });
  EXPECT_EQ(queue.waiting(), 7u);
  gate.set_value();
  end.get_future().wait();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(WorkQueue, stopping_waits_for_what_runs_and_drops_the_rest) {
  std::atomic<int> done = 0;
  WorkQueue queue;
  std::promise<void> started, gate;
  queue.Post([&] {
    started.set_value();
    gate.get_future().wait();
    ++done;
  });
  queue.Post([&] { done += 100; });
  started.get_future().wait();
  std::thread opener([&] { gate.set_value(); });
  queue.Stop();
  opener.join();
  queue.Post([&] { done += 1000; });
  EXPECT_EQ(done % 100, 1);
  EXPECT_LT(done, 1000);
}

}  // namespace
}  // namespace samebit::server
