#include "http/url.h"

#include <algorithm>
#include <charconv>

namespace samebit::http {
namespace {

bool Take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

}  // namespace

std::string Url::origin() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return std::string(tls ? "https://" : "http://") + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Url> ParseUrl(std::string_view text) {
  const auto wrong = [](const std::string& why) {
    return Error{ErrorCode::kInvalidArgument, "expected an address like http://127.0.0.1:8080/v1: " + why};
  };
  // What is not printable ASCII could end a line of the request that it stands in.
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= 0x20 || c >= 0x7f; }))
    return wrong("it has a blank, a control character or a letter outside ASCII");
  Url url;
  std::string_view rest = text;
  if (Take(rest, "https://")) {
    url.tls = true;
    url.port = 443;
  } else if (!Take(rest, "http://")) {
    return wrong("it begins with neither http:// nor https://");
  }
  if (rest.find_first_of("@?#") != std::string_view::npos) return wrong("a user, a query or a fragment has no place there");
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();

  if (Take(authority, "[")) {
    const size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return wrong("a bracket is not closed");
    url.host = authority.substr(0, bracket);
    authority.remove_prefix(bracket + 1);
    if (!authority.empty() && authority.front() != ':') return wrong("something stands behind the bracket");
  } else {
    url.host = authority.substr(0, std::min(authority.find(':'), authority.size()));
    authority.remove_prefix(url.host.size());
  }
  if (url.host.empty()) return wrong("it names no host");
  if (Take(authority, ":")) {
    const auto [end, error] = std::from_chars(authority.data(), authority.data() + authority.size(), url.port);
    if (error != std::errc() || end != authority.data() + authority.size() || url.port == 0)
      return wrong("its port is not a number from 1 to 65535");
  }
  return url;
}

}  // namespace samebit::http
