#include "base/digest.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace samebit {
namespace {

// FIPS 180-4 examples.
TEST(Sha256, matches_the_published_vectors) {
  EXPECT_EQ(Sha256::Of("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256::Of("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, is_the_same_however_the_message_is_cut_and_can_be_used_again) {
  const std::string text(1000, 'x');
  Sha256 hash;
  for (size_t cut = 0; cut <= text.size(); cut += 37) {
    hash.Update(std::string_view(text).substr(0, cut));
    hash.Update(std::string_view(text).substr(cut));
    EXPECT_EQ(hash.Finish(), Sha256::Of(text));
  }
}

TEST(Result, carries_a_value_or_an_error_and_never_both) {
  Result<int> good = 3;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  Result<int> bad = Error{ErrorCode::kMalformed, "x"};
  EXPECT_FALSE(bad.ok());
  EXPECT_STREQ(ErrorCodeName(bad.error().code), "malformed");
}

}  // namespace
}  // namespace samebit
