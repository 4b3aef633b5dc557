#include "server/api_keys.h"

#include <gtest/gtest.h>

namespace samebit::server {
namespace {

std::string Line(const std::string& name, const std::string& key) { return name + " " + Sha256::Of(key).hex() + "\n"; }

std::optional<std::string> NameOf(const ApiKeys& keys, const std::string& header) { return keys.NameOf(&header); }

TEST(ApiKeys, finds_the_name_of_a_key_and_refuses_the_rest) {
  const auto keys = ApiKeys::Parse("# ours\n\n" + Line("alice", "a") + Line("bob", "b"), "keys");
  ASSERT_TRUE(keys.ok());
  EXPECT_TRUE(keys->required());
  EXPECT_EQ(NameOf(*keys, "Bearer a"), "alice");
  EXPECT_EQ(NameOf(*keys, "Bearer b"), "bob");
  for (const char* header : {"", "a", "Bearer", "Bearer ", "Bearer c", "bearer a", "Bearer a ", "Basic a"})
    EXPECT_FALSE(NameOf(*keys, header)) << header;
  EXPECT_FALSE(keys->NameOf(nullptr));
}

TEST(ApiKeys, without_keys_nobody_needs_one) { EXPECT_FALSE(ApiKeys().required()); }

TEST(ApiKeys, names_the_line_that_is_wrong) {
  for (const std::string& text : {std::string(), std::string("# none\n"), std::string("alice\n"), std::string("alice abc\n"),
                                  "alice " + std::string(64, 'g') + "\n", " " + Sha256::Of("a").hex() + "\n"}) {
    const auto keys = ApiKeys::Parse(text, "keys");
    ASSERT_FALSE(keys.ok()) << text;
    EXPECT_EQ(keys.error().code, ErrorCode::kMalformed);
  }
  EXPECT_NE(ApiKeys::Parse(Line("a", "a") + "bad\n", "keys").error().message.find("line 2"), std::string::npos);
}

}  // namespace
}  // namespace samebit::server
