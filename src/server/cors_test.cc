// Who may read an answer from a browser.
#include "server/cors.h"

#include <gtest/gtest.h>

namespace samebit::server {
namespace {

http::Request From(const char* origin, const char* method = "POST") {
  http::Request request;
  request.method = method;
  if (origin != nullptr) request.headers = {{"origin", origin}};
  return request;
}

TEST(Cors, takes_origins_as_browsers_send_them) {
  for (const char* good : {"*", "https://example.org", "http://localhost:3000", "http://[::1]:80"})
    EXPECT_TRUE(CheckOrigin(good).ok()) << good;
  for (const char* bad : {"", "example.org", "https://", "https://example.org/", "https://Example.org", "null", "https://*.a",
                          "https://a b", "https://a\r\nX: y"})
    EXPECT_FALSE(CheckOrigin(bad).ok()) << bad;
}

TEST(Cors, says_nothing_to_origins_that_are_not_in_the_list) {
  const std::vector<std::string> origins = {"https://a.example"};
  EXPECT_TRUE(CorsHeaders(From("https://b.example"), origins).empty());
  EXPECT_TRUE(CorsHeaders(From(nullptr), origins).empty());
  EXPECT_TRUE(CorsHeaders(From("https://a.example"), {}).empty());
  const auto headers = CorsHeaders(From("https://a.example"), origins);
  ASSERT_FALSE(headers.empty());
  EXPECT_EQ(headers[0].second, "https://a.example");
  EXPECT_EQ(CorsHeaders(From("https://b.example"), {"*"})[0].second, "*");
}

TEST(Cors, answers_a_browsers_question_only_where_it_is_one) {
  const std::vector<std::string> origins = {"https://a.example"};
  http::Request question = From("https://a.example", "OPTIONS");
  EXPECT_FALSE(CorsPreflight(question, origins));
  question.headers.emplace_back("access-control-request-method", "POST");
  const auto answer = CorsPreflight(question, origins);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(answer->body.empty());
  EXPECT_FALSE(CorsPreflight(question, {"https://b.example"}));
  EXPECT_FALSE(CorsPreflight(question, {}));
}

}  // namespace
}  // namespace samebit::server
