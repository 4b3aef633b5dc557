#include "world/clock.h"

#include <chrono>

namespace samebit::world {

uint64_t RealClock::monotonic_ns() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

int64_t RealClock::unix_ns() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace samebit::world
