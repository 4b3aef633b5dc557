// CHECK(condition): "we were wrong". Always on, prints file, line and condition, aborts.
// User input can never reach a CHECK; for that there is Result (result.h).
#pragma once

namespace samebit {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace samebit

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::samebit::CheckFailed(__FILE__, __LINE__, #condition);              \
  } while (false)
