// Where a client connects to: "http://127.0.0.1:8080/v1" taken apart. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace samebit::http {

struct Url {
  bool tls = false;
  std::string host;  // without the brackets of an IPv6 address
  uint16_t port = 80;
  std::string path;  // "" or "/v1"; without a slash at its end

  std::string origin() const;  // "http://127.0.0.1:8080"
};

// Failure: kInvalidArgument (another scheme than http and https, no host, a port out of range; a user, a password, a
// query or a fragment, which have no place in the address of a server).
Result<Url> ParseUrl(std::string_view text);

}  // namespace samebit::http
