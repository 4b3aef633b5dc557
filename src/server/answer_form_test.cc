#include "server/answer_form.h"

#include <gtest/gtest.h>

#include <set>

namespace samebit::server {
namespace {

TEST(AttemptSeed, follows_the_stated_rule) {
  EXPECT_EQ(AttemptSeed(7, 0), 7u);
  // sha256(b"samebit-attempt/1\0" + (7).to_bytes(8, "little") + (1).to_bytes(4, "little"))[:8]
  EXPECT_EQ(AttemptSeed(7, 1), 3920886886627382087u);
  EXPECT_EQ(AttemptSeed(0xfedcba9876543210ull, 8), 17983516806340677401u);
}

TEST(AttemptSeed, differs_between_attempts_and_seeds) {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 16; ++seed)
    for (uint32_t attempt = 0; attempt < 9; ++attempt) seeds.insert(AttemptSeed(seed, attempt));
  EXPECT_EQ(seeds.size(), 16u * 9u);
}

TEST(SchemaRefused, names_the_place_and_the_kind) {
  const auto refused = [](ErrorCode code) { return SchemaRefused({Error{code, "m"}, 0, ".a"}, "schema"); };
  EXPECT_EQ(refused(ErrorCode::kUnsupported).code, "unsupported_schema");
  EXPECT_EQ(refused(ErrorCode::kMalformed).code, "invalid_schema");
  EXPECT_EQ(refused(ErrorCode::kTooLarge).code, "too_large");
  EXPECT_EQ(refused(ErrorCode::kTooLarge).param, "schema.a");
  EXPECT_EQ(refused(ErrorCode::kTooLarge).status, 400);
  EXPECT_EQ(refused(ErrorCode::kInternal).status, 500);
}

}  // namespace
}  // namespace samebit::server
