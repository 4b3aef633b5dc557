// The closed list of reasons for which a request is refused because its promise could not be kept, with the HTTP status
// of each. Ordinary mistakes in a request (a number out of range) are not refusals of this list.
#pragma once

#include <span>

namespace samebit::contract {

enum class Refusal {
  kSeedRequired,         // tier 1 or 2, sampling on, no seed
  kFingerprintMismatch,  // a pin differs from what would run
  kForbiddenFeature,     // a request or option that breaks the tier
  kPoolUnqualified,      // no pool holds a valid qualification for this tier and model
  kTierUnavailable,      // pools are qualified but down
  kUnsupportedParameter, // cannot be honoured; never dropped in silence
  kEvidenceUnavailable,  // tier 2 and the record cannot be made durable
  kSelfTestFailed,       // the engine's start-up proof failed on this machine
  kCapacity,             // the queue is full
};

struct RefusalRow {
  Refusal refusal;
  const char* code;
  int status;
};

// In the order of the list above.
std::span<const RefusalRow> Refusals();
const RefusalRow& RowOf(Refusal refusal);

}  // namespace samebit::contract
