// A request and a response as plain data.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samebit::http {

struct Request {
  std::string method;  // "GET"
  std::string path;    // up to the first '?', as it came
  std::string query;   // behind it
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order
  std::string body;
  std::string peer;  // address of the client, for the log

  // The first header of that (lower-case) name; nullptr: absent.
  const std::string* Header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // more of them; control characters are taken out
  std::string body;
};

// What is wrong with bytes that never became a request.
enum class Fault {
  kMalformed,           // not HTTP/1.x, or a body that breaks its own framing
  kHeaderTooLarge,
  kBodyTooLarge,
  kTimeout,             // header or body did not arrive in time
  kTooManyConnections,
};

}  // namespace samebit::http
