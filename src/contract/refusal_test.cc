#include "contract/refusal.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace samebit::contract {
namespace {

TEST(Refusal, every_code_stands_once_with_a_client_or_availability_status) {
  std::set<std::string> codes;
  for (const RefusalRow& row : Refusals()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_EQ(&RowOf(row.refusal), &row);
    EXPECT_TRUE(row.status == 400 || row.status == 409 || row.status == 429 || row.status == 503) << row.code;
  }
  EXPECT_EQ(codes.size(), 9u);
}

TEST(Refusal, a_mismatched_pin_is_a_conflict_and_a_full_queue_asks_to_come_back) {
  EXPECT_EQ(RowOf(Refusal::kFingerprintMismatch).status, 409);
  EXPECT_EQ(RowOf(Refusal::kCapacity).status, 429);
  EXPECT_STREQ(RowOf(Refusal::kUnsupportedParameter).code, "unsupported_parameter");
}

}  // namespace
}  // namespace samebit::contract
