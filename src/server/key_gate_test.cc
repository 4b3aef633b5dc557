// Rates and places of keys, with a clock that the test moves.
#include "server/key_gate.h"

#include <gtest/gtest.h>

#include <vector>

namespace samebit::server {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

ApiKey Key(const char* name, std::optional<uint32_t> per_minute, std::optional<uint32_t> in_flight) {
  return {name, {}, {per_minute, in_flight}};
}

// "" or the code, with the seconds to wait.
std::string Try(KeyGate& gate, const ApiKey& key, std::vector<KeyGate::Place>* kept = nullptr) {
  auto entered = gate.Enter(key);
  if (const auto* error = std::get_if<openai::ApiError>(&entered)) {
    EXPECT_EQ(error->status, 429);
    return error->code + " " + std::to_string(error->retry_after_seconds.value_or(0));
  }
  if (kept != nullptr) kept->push_back(std::get<KeyGate::Place>(entered));
  return "";
}

TEST(KeyGate, without_limits_everybody_enters) {
  world::FakeClock clock(0);
  KeyGate gate({}, clock);
  std::vector<KeyGate::Place> kept;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Try(gate, Key("a", {}, {}), &kept), "");
}

TEST(KeyGate, a_minutes_requests_may_come_at_once_and_then_one_by_one) {
  world::FakeClock clock(0);
  KeyGate gate({}, clock);
  const ApiKey key = Key("a", 6, {});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Try(gate, key), "") << i;
  EXPECT_EQ(Try(gate, key), "rate_limited 10");
  clock.Advance(9 * kSecondNs);
  EXPECT_EQ(Try(gate, key), "rate_limited 1");
  clock.Advance(kSecondNs);
  EXPECT_EQ(Try(gate, key), "");
  EXPECT_EQ(Try(gate, key), "rate_limited 10");
  EXPECT_EQ(Try(gate, Key("b", 6, {})), "") << "another key has its own minute";
  clock.Advance(3600 * kSecondNs);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Try(gate, key), "") << "an hour saves up no more than a minute";
  EXPECT_EQ(Try(gate, key), "rate_limited 10");
}

TEST(KeyGate, a_place_is_free_again_when_it_is_given_back) {
  world::FakeClock clock(0);
  KeyGate gate({}, clock);
  const ApiKey key = Key("a", {}, 2);
  std::vector<KeyGate::Place> kept;
  EXPECT_EQ(Try(gate, key, &kept), "");
  EXPECT_EQ(Try(gate, key, &kept), "");
  EXPECT_EQ(Try(gate, key, &kept), "too_many_in_flight 1");
  EXPECT_EQ(Try(gate, Key("b", {}, 2)), "");
  kept.pop_back();
  EXPECT_EQ(Try(gate, key, &kept), "");
  EXPECT_EQ(Try(gate, key, &kept), "too_many_in_flight 1");
}

TEST(KeyGate, a_key_that_says_nothing_has_the_defaults_and_0_means_no_limit) {
  world::FakeClock clock(0);
  KeyGate gate({.requests_per_minute = 1, .in_flight = {}}, clock);
  EXPECT_EQ(Try(gate, Key("a", {}, {})), "");
  EXPECT_EQ(Try(gate, Key("a", {}, {})), "rate_limited 60");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Try(gate, Key("b", 0, {})), "");
}

TEST(KeyGate, places_may_outlive_it) {
  world::FakeClock clock(0);
  std::vector<KeyGate::Place> kept;
  {
    KeyGate gate({}, clock);
    EXPECT_EQ(Try(gate, Key("a", {}, 1), &kept), "");
  }
  kept.clear();
  EXPECT_TRUE(kept.empty());
}

}  // namespace
}  // namespace samebit::server
