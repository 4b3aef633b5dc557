#include "server/page.h"

namespace samebit::server {

// Made from web/built at build time (cmake/embed.cmake).
extern const std::string_view kPageHtml;
extern const std::string_view kPagePolicy;

std::string_view PageHtml() { return kPageHtml; }

std::vector<std::pair<std::string, std::string>> PageHeaders() {
  const std::string_view policy = kPagePolicy.substr(0, kPagePolicy.find('\n'));
  return {{"Content-Security-Policy", std::string(policy)},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          // A newer samebit has a newer page, and the old one would not fit it.
          {"Cache-Control", "no-cache"}};
}

}  // namespace samebit::server
