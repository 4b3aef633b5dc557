// The driver against a made-up engine that counts what it is given.
#include "verify/drive.h"

#include <map>

#include <gtest/gtest.h>

#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

// Every request takes as many steps as it asks for tokens. It remembers how many shared its steps.
class CountingEngine final : public engine::Engine {
 public:
  Result<engine::RequestId> Submit(engine::Request request, engine::TokenSink) override {
    if (request.tokens_max == 0) return Error{ErrorCode::kInvalidArgument, "tokens_max"};
    running_[next_] = {std::move(request), 0, 0};
    return next_++;
  }
  void Cancel(engine::RequestId id) override { running_.erase(id), ++cancelled; }
  bool Step() override {
    if (stuck) return false;
    ++counters_.steps;
    const auto together = static_cast<uint32_t>(running_.size());
    largest_batch = std::max(largest_batch, together);
    for (auto entry = running_.begin(); entry != running_.end();) {
      Running& running = entry->second;
      running.shared_max = std::max(running.shared_max, together);
      if (++running.steps < running.request.tokens_max) {
        ++entry;
        continue;
      }
      engine::Completion completion =
          MadeUpCompletion(static_cast<uint32_t>(running.request.prompt.size()), running.steps);
      completion.trace.sequences_in_step_max = running.shared_max;
      finished_.emplace(entry->first, std::move(completion));
      entry = running_.erase(entry);
    }
    return !running_.empty();
  }
  std::optional<Result<engine::Completion>> Take(engine::RequestId id) override {
    const auto found = finished_.find(id);
    if (found == finished_.end()) return std::nullopt;
    Result<engine::Completion> completion = std::move(found->second);
    finished_.erase(found);
    return completion;
  }
  const engine::EngineOptions& options() const override { return options_; }
  const engine::EngineCounters& counters() const override { return counters_; }
  uint32_t context_max() const override { return 1024; }
  uint64_t cache_bytes_used_max() const override { return 0; }
  void Observe(engine::PhaseObserver*) override {}
  void DropPrefixCache() override { ++drops; }

  uint32_t largest_batch = 0;
  uint32_t drops = 0;
  uint32_t cancelled = 0;
  bool stuck = false;

 private:
  struct Running {
    engine::Request request;
    uint32_t steps = 0;
    uint32_t shared_max = 0;
  };
  engine::RequestId next_ = 1;
  std::map<engine::RequestId, Running> running_;
  std::map<engine::RequestId, engine::Completion> finished_;
  engine::EngineOptions options_;
  engine::EngineCounters counters_;
};

engine::Request Asking(uint32_t tokens) {
  engine::Request request;
  request.prompt = {1, 2, 3};
  request.tokens_max = tokens;
  return request;
}

Load LoadOf(size_t count, uint32_t in_flight) {
  Load load;
  load.requests.assign(count, Asking(4));
  load.in_flight = in_flight;
  load.company = [](uint32_t number) { return Asking(2 + number % 3); };
  return load;
}

TEST(Drive, one_in_flight_means_alone) {
  CountingEngine engine;
  const auto driven = DriveEngine(engine, LoadOf(3, 1), nullptr);
  ASSERT_TRUE(driven.ok());
  EXPECT_EQ(engine.largest_batch, 1u);
  EXPECT_EQ(driven->company_started, 0u);
  for (const RequestRun& run : driven->requests) EXPECT_TRUE(run.completion.has_value());
}

TEST(Drive, every_request_shares_a_step_with_as_many_as_asked) {
  for (size_t count : {1u, 3u, 8u, 9u, 17u}) {
    CountingEngine engine;
    const auto driven = DriveEngine(engine, LoadOf(count, 8), nullptr);
    ASSERT_TRUE(driven.ok());
    EXPECT_EQ(engine.largest_batch, 8u);
    for (const RequestRun& run : driven->requests) EXPECT_EQ(run.completion->trace.sequences_in_step_max, 8u) << count;
  }
}

TEST(Drive, company_keeps_its_places) {
  CountingEngine engine;
  Load load = LoadOf(4, 4);
  load.company_min = 3;
  const auto driven = DriveEngine(engine, std::move(load), nullptr);
  ASSERT_TRUE(driven.ok());
  EXPECT_GE(driven->company_started, 3u);
  EXPECT_GE(engine.counters().steps, 16u) << "one compared request of 4 steps at a time";
  for (const RequestRun& run : driven->requests) EXPECT_EQ(run.completion->trace.sequences_in_step_max, 4u);
}

TEST(Drive, empties_the_prefix_cache_before_each_request) {
  CountingEngine engine;
  Load load = LoadOf(3, 1);
  load.drop_prefixes = true;
  ASSERT_TRUE(DriveEngine(engine, std::move(load), nullptr).ok());
  EXPECT_EQ(engine.drops, 3u);
}

TEST(Drive, keeps_the_error_of_a_refused_request) {
  CountingEngine engine;
  Load load = LoadOf(3, 2);
  load.requests[1] = Asking(0);
  const auto driven = DriveEngine(engine, std::move(load), nullptr);
  ASSERT_TRUE(driven.ok());
  EXPECT_EQ(driven->requests[1].error, "tokens_max");
  EXPECT_TRUE(driven->requests[2].completion.has_value());
}

TEST(Drive, ends_when_told_to) {
  CountingEngine engine;
  uint32_t steps = 0;
  const auto driven = DriveEngine(engine, LoadOf(3, 1), [&] { return ++steps < 5; });
  ASSERT_FALSE(driven.ok());
  EXPECT_EQ(driven.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(steps, 5u);
}

TEST(Drive, reports_an_engine_that_stops) {
  CountingEngine engine;
  engine.stuck = true;
  const auto driven = DriveEngine(engine, LoadOf(3, 1), nullptr);
  ASSERT_FALSE(driven.ok());
  EXPECT_EQ(driven.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace samebit::verify
