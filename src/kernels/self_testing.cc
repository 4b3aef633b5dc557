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
const char* GoldenSelfTestDigest() { return "2f360257780655f6440aeda41cd8ea467a7104607e1d07755a327ebc8d7b2e82"; }
const char* GoldenEncoderSelfTestDigest() { return "00d54a38bb24a3cd6b0257f2176020cc9c0d1a7d40b41d57a43d11949c63eb10"; }

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
