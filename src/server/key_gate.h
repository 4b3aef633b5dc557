// What each API key may ask at once and in a minute. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "openai/api_error.h"
#include "server/api_keys.h"
#include "world/clock.h"

namespace samebit::server {

class KeyGate {
 public:
  // A request's place: given back with the last copy.
  using Place = std::shared_ptr<const void>;

  // defaults: of keys that say nothing themselves. The clock outlives the gate.
  KeyGate(KeyLimits defaults, const world::Clock& clock) : defaults_(defaults), clock_(clock) {}

  // 429 with Retry-After where the key has had its share. A minute's requests may come at once; then one place comes free
  // after another.
  std::variant<Place, openai::ApiError> Enter(const ApiKey& key);

 private:
  struct State {
    uint32_t in_flight = 0;
    uint64_t full_until_ns = 0;  // when the minute's requests would all be there again
  };
  struct Shared {
    std::mutex mutex;
    std::map<std::string, State> keys;  // by name
  };

  const KeyLimits defaults_;
  const world::Clock& clock_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();  // places may outlive the gate
};

}  // namespace samebit::server
