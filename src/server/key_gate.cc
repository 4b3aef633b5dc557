#include "server/key_gate.h"

#include <algorithm>

namespace samebit::server {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMinuteNs = 60 * kSecondNs;

openai::ApiError Refusal(const char* code, uint64_t wait_ns, std::string message) {
  openai::ApiError error = openai::InvalidValue("", std::move(message), code);
  error.status = 429;
  error.type = "rate_limit_error";
  error.retry_after_seconds = static_cast<uint32_t>(std::max<uint64_t>(1, (wait_ns + kSecondNs - 1) / kSecondNs));
  return error;
}

}  // namespace

std::variant<KeyGate::Place, openai::ApiError> KeyGate::Enter(const ApiKey& key) {
  const uint32_t in_flight_max = key.limits.in_flight.value_or(defaults_.in_flight.value_or(0));
  const uint32_t per_minute = key.limits.requests_per_minute.value_or(defaults_.requests_per_minute.value_or(0));
  const uint64_t now_ns = clock_.monotonic_ns();
  const std::lock_guard lock(shared_->mutex);
  State& state = shared_->keys[key.name];
  if (in_flight_max > 0 && state.in_flight >= in_flight_max) {
    return Refusal("too_many_in_flight", 0,
                   "this key has " + std::to_string(state.in_flight) + " requests in flight and may have " +
                       std::to_string(in_flight_max));
  }
  if (per_minute > 0) {
    // Each request takes its part of a minute; as long as the sum lies less than a minute ahead there is room.
    const uint64_t part_ns = kMinuteNs / per_minute;
    const uint64_t begin_ns = std::max(state.full_until_ns, now_ns);
    const uint64_t ahead_max_ns = part_ns * (per_minute - 1);
    if (begin_ns - now_ns > ahead_max_ns) {
      return Refusal("rate_limited", begin_ns - now_ns - ahead_max_ns,
                     "this key may ask " + std::to_string(per_minute) + " times a minute");
    }
    state.full_until_ns = begin_ns + part_ns;
  }
  ++state.in_flight;
  return Place(nullptr, [shared = shared_, name = key.name](const void*) {
    const std::lock_guard unlock(shared->mutex);
    --shared->keys[name].in_flight;
  });
}

}  // namespace samebit::server
