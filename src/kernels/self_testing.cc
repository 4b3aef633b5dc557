#include "kernels/self_test.h"

#include <cstring>

#include "arith/environment.h"
#include "kernels/self_test_operations.h"

namespace samebit::kernels {

Sha256Digest SelfTestDigest(const KernelTable& table) {
  Sha256 digest;
  for (const SelfTestOperation& operation : SelfTestOperations()) {
    Outcome outcome;
    operation.run(table, &outcome);
    digest.Update(operation.name);
    digest.Update(outcome.bytes().data(), outcome.bytes().size());
  }
  return digest.Finish();
}

// Frozen for samebit-arith/1: conformance_test computes it from arith.
const char* GoldenSelfTestDigest() { return "78836ac0c786eadfbdfc3d9190d762816d6d89589427937a766ca14d67de84b6"; }

Status SelfTest(const KernelTable& table) {
  if (!arith::FloatEnvironmentHolds())
    return Error{ErrorCode::kSelfTestFailed,
                 "self-test: this thread does not compute in IEEE 754 binary32 (rounding, subnormals or fma)"};
  const std::string found = SelfTestDigest(table).hex();
  if (found == GoldenSelfTestDigest()) return {};
  const std::string where = std::string("self-test of the ") + IsaName(table.isa) + " kernels: ";
  for (const SelfTestOperation& operation : SelfTestOperations()) {
    Outcome actual, expected;
    operation.run(table, &actual);
    operation.run_by_law(&expected);
    if (actual.bytes() != expected.bytes())
      return Error{ErrorCode::kSelfTestFailed,
                   where + operation.name + " differs from the law of " + arith::kArithmeticVersion};
  }
  return Error{ErrorCode::kSelfTestFailed, where + "the law of this build is not " + arith::kArithmeticVersion +
                                               ": expected digest " + GoldenSelfTestDigest() + ", found " + found};
}

}  // namespace samebit::kernels
