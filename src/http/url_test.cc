#include "http/url.h"

#include <gtest/gtest.h>

namespace samebit::http {
namespace {

TEST(Url, is_taken_apart) {
  const auto url = ParseUrl("http://127.0.0.1:8080/v1/");
  ASSERT_TRUE(url.ok());
  EXPECT_FALSE(url->tls);
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->path, "/v1");
  EXPECT_EQ(url->origin(), "http://127.0.0.1:8080");
}

TEST(Url, knows_the_usual_ports_and_ipv6) {
  EXPECT_EQ(ParseUrl("http://example.org")->origin(), "http://example.org:80");
  EXPECT_EQ(ParseUrl("https://example.org/a/b")->origin(), "https://example.org:443");
  const auto url = ParseUrl("http://[::1]:9000");
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->origin(), "http://[::1]:9000");
}

TEST(Url, refuses_what_is_no_address_of_a_server) {
  for (const char* text : {"", "127.0.0.1:8080", "ftp://a", "http://", "http://:80", "http://a:0", "http://a:65536", "http://a:x",
                           "http://a:", "http://user@a", "http://a/?q", "http://a/#f", "http://a b", "http://a\r\nX: y",
                           "http://[::1", "http://[::1]x", "http://\xc3\xa4"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace samebit::http
