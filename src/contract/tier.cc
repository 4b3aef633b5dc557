#include "contract/tier.h"

namespace samebit::contract {

std::optional<Tier> ParseTier(std::string_view text) {
  for (const Tier tier : {Tier::kStatistical, Tier::kRequest, Tier::kStrict}) {
    const char number[2] = {static_cast<char>('0' + TierNumber(tier)), 0};
    if (text == TierName(tier) || text == number) return tier;
  }
  return std::nullopt;
}

const char* TierName(Tier tier) {
  switch (tier) {
    case Tier::kStatistical:
      return "statistical";
    case Tier::kRequest:
      return "request";
    case Tier::kStrict:
      return "strict";
  }
  return "strict";
}

}  // namespace samebit::contract
