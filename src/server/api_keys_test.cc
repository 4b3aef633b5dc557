#include "server/api_keys.h"

#include <gtest/gtest.h>

namespace samebit::server {
namespace {

std::string Line(const std::string& name, const std::string& key) { return name + " " + Sha256::Of(key).hex() + "\n"; }

std::optional<std::string> NameOf(const ApiKeys& keys, const std::string& header) {
  const ApiKey* key = keys.Find(&header);
  return key == nullptr ? std::nullopt : std::optional<std::string>(key->name);
}

TEST(ApiKeys, finds_the_name_of_a_key_and_refuses_the_rest) {
  const auto keys = ApiKeys::Parse("# ours\n\n" + Line("alice", "a") + Line("bob", "b"), "keys");
  ASSERT_TRUE(keys.ok());
  EXPECT_TRUE(keys->required());
  EXPECT_EQ(NameOf(*keys, "Bearer a"), "alice");
  EXPECT_EQ(NameOf(*keys, "Bearer b"), "bob");
  EXPECT_EQ(NameOf(*keys, "bearer b"), "bob") << "RFC 9110: schemes have no case";
  for (const char* header : {"", "a", "Bearer", "Bearer ", "Bearer c", "Bearer a ", "Bearer  a", "Basic a"})
    EXPECT_FALSE(NameOf(*keys, header)) << header;
  EXPECT_EQ(keys->Find(nullptr), nullptr);
}

TEST(ApiKeys, without_keys_nobody_needs_one) { EXPECT_FALSE(ApiKeys().required()); }

TEST(ApiKeys, reads_the_limits_of_a_key) {
  const std::string hex = Sha256::Of("a").hex();
  const auto keys = ApiKeys::Parse("a " + hex + "  in-flight=2\trequests-per-minute=60\n", "keys");
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  const std::string header = "Bearer a";
  EXPECT_EQ(keys->Find(&header)->limits.in_flight, 2u);
  EXPECT_EQ(keys->Find(&header)->limits.requests_per_minute, 60u);
  for (const char* wrong : {" x", " in-flight", " in-flight=", " in-flight=-1", " in-flight=2x", " in-flight=9999999",
                            " in-flight=1 in-flight=1", " rate=5"})
    EXPECT_FALSE(ApiKeys::Parse("a " + hex + wrong, "keys").ok()) << wrong;
}

TEST(ApiKeys, a_name_or_a_key_that_stands_twice_is_refused) {
  EXPECT_NE(ApiKeys::Parse(Line("a", "a") + Line("a", "b"), "keys").error().message.find("line 2: the name"), std::string::npos);
  EXPECT_NE(ApiKeys::Parse(Line("a", "a") + Line("b", "a"), "keys").error().message.find("line 2: the key"), std::string::npos);
}

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
