#include "kernels/self_test.h"

#include <cstring>

#include "arith/environment.h"
#include "kernels/self_test_operations.h"

namespace samebit::kernels {

namespace {

void Update(Sha256& digest, std::span<const SelfTestOperation> operations, const KernelTable& table) {
  for (const SelfTestOperation& operation : operations) {
    Outcome outcome;
    operation.run(table, &outcome);
    digest.Update(operation.name);
    digest.Update(outcome.bytes().data(), outcome.bytes().size());
  }
}

// The name of the first operation that differs from arith, or null.
const char* FirstDifference(std::span<const SelfTestOperation> operations, const KernelTable& table) {
  for (const SelfTestOperation& operation : operations) {
    Outcome actual, expected;
    operation.run(table, &actual);
    operation.run_by_law(&expected);
    if (actual.bytes() != expected.bytes()) return operation.name;
  }
  return nullptr;
}

}  // namespace

Sha256Digest SelfTestDigest(const KernelTable& table) {
  Sha256 digest;
  Update(digest, SelfTestOperations(), table);
  return digest.Finish();
}

Sha256Digest EncoderSelfTestDigest(const KernelTable& table) {
  Sha256 digest;
  Update(digest, SelfTestOperations(), table);
  Update(digest, EncoderSelfTestOperations(), table);
  return digest.Finish();
}

// Frozen for samebit-arith/1: conformance_test computes them from arith.
const char* GoldenSelfTestDigest() { return "78836ac0c786eadfbdfc3d9190d762816d6d89589427937a766ca14d67de84b6"; }
const char* GoldenEncoderSelfTestDigest() { return "cda053da4d012d173486272e39a02206305778de11d331a290945c98ce3cf9c6"; }

Status SelfTest(const KernelTable& table) {
  if (!arith::FloatEnvironmentHolds())
    return Error{ErrorCode::kSelfTestFailed,
                 "self-test: this thread does not compute in IEEE 754 binary32 (rounding, subnormals or fma)"};
  const std::string found = EncoderSelfTestDigest(table).hex();
  if (found == GoldenEncoderSelfTestDigest()) return {};
  const std::string where = std::string("self-test of the ") + IsaName(table.isa) + " kernels: ";
  for (const auto operations : {SelfTestOperations(), EncoderSelfTestOperations()}) {
    if (const char* name = FirstDifference(operations, table))
      return Error{ErrorCode::kSelfTestFailed, where + name + " differs from the law of " + arith::kArithmeticVersion};
  }
  return Error{ErrorCode::kSelfTestFailed, where + "the law of this build is not " + arith::kArithmeticVersion +
                                               ": expected digest " + GoldenEncoderSelfTestDigest() + ", found " +
                                               found};
}

}  // namespace samebit::kernels
