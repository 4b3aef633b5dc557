#include "contract/refusal.h"

#include "base/check.h"

namespace samebit::contract {
namespace {

constexpr RefusalRow kRows[] = {
    {Refusal::kSeedRequired, "seed_required", 400},
    {Refusal::kFingerprintMismatch, "fingerprint_mismatch", 409},
    {Refusal::kForbiddenFeature, "forbidden_feature", 400},
    {Refusal::kPoolUnqualified, "pool_unqualified", 503},
    {Refusal::kTierUnavailable, "tier_unavailable", 503},
    {Refusal::kUnsupportedParameter, "unsupported_parameter", 400},
    {Refusal::kEvidenceUnavailable, "evidence_unavailable", 503},
    {Refusal::kSelfTestFailed, "self_test_failed", 503},
    {Refusal::kCapacity, "capacity", 429},
};

}  // namespace

std::span<const RefusalRow> Refusals() { return kRows; }

const RefusalRow& RowOf(Refusal refusal) {
  const RefusalRow& row = kRows[static_cast<int>(refusal)];
  CHECK(row.refusal == refusal);
  return row;
}

}  // namespace samebit::contract
