// What a request is promised.
#pragma once

#include <optional>
#include <string_view>

namespace samebit::contract {

enum class Tier {
  kStatistical = 0,  // nothing about bits
  kRequest = 1,      // this request can be made again, given its seed, on the same fingerprint
  kStrict = 2,       // the same, and everything that could break it is refused
};

// "0", "1", "2" or "statistical", "request", "strict"; nothing else.
std::optional<Tier> ParseTier(std::string_view text);
const char* TierName(Tier tier);
constexpr int TierNumber(Tier tier) { return static_cast<int>(tier); }

}  // namespace samebit::contract
