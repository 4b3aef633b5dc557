#include <gtest/gtest.h>

#include <cstdlib>

#include "world/clock.h"
#include "world/entropy.h"
#include "world/environment.h"
#include "world/log.h"

namespace samebit::world {
namespace {

TEST(Clock, the_real_one_moves_and_the_fake_one_moves_when_told) {
  const RealClock real;
  const uint64_t first = real.monotonic_ns();
  while (real.monotonic_ns() == first) {
  }
  EXPECT_GT(real.unix_ns(), 1'700'000'000'000'000'000);
  FakeClock fake(5);
  EXPECT_EQ(fake.monotonic_ns(), 0u);
  fake.Advance(7);
  EXPECT_EQ(fake.monotonic_ns(), 7u);
  EXPECT_EQ(fake.unix_ns(), 12);
}

TEST(Entropy, the_real_one_differs_and_the_fake_one_counts) {
  RealEntropy real;
  EXPECT_NE(real.Seed(), real.Seed());
  FakeEntropy fake(41);
  EXPECT_EQ(fake.Seed(), 41u);
  EXPECT_EQ(fake.Seed(), 42u);
}

TEST(Environment, tells_unset_from_empty) {
  ASSERT_EQ(::setenv("SAMEBIT_WORLD_TEST", "", 1), 0);
  EXPECT_EQ(EnvironmentVariable("SAMEBIT_WORLD_TEST"), std::optional<std::string>(""));
  ASSERT_EQ(::unsetenv("SAMEBIT_WORLD_TEST"), 0);
  EXPECT_EQ(EnvironmentVariable("SAMEBIT_WORLD_TEST"), std::nullopt);
}

TEST(Log, a_message_is_one_line_and_cannot_steer_the_terminal) {
  MemoryLog log;
  log.Write(LogLevel::kWarning, "a\nerror: b\x1b[2J");
  log.Write(LogLevel::kInfo, "plain");
  EXPECT_EQ(log.lines(), (std::vector<std::string>{"warning: a?error: b?[2J", "plain"}));
}

}  // namespace
}  // namespace samebit::world
