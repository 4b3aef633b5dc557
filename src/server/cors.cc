#include "server/cors.h"

#include <algorithm>

namespace samebit::server {

Status CheckOrigin(std::string_view origin) {
  if (origin == "*") return {};
  const size_t scheme = origin.starts_with("https://") ? 8 : origin.starts_with("http://") ? 7 : 0;
  const std::string_view host = origin.substr(scheme);
  const bool is_plain = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
  if (scheme > 0 && !host.empty() && is_plain) return {};
  return Error{ErrorCode::kInvalidArgument, "expected * or an origin as browsers send it, such as https://example.org or "
                                            "http://localhost:3000: lower case, no path"};
}

std::vector<std::pair<std::string, std::string>> CorsHeaders(const http::Request& request,
                                                             const std::vector<std::string>& origins) {
  const std::string* origin = request.Header("origin");
  if (origin == nullptr || origins.empty()) return {};
  const bool any = std::find(origins.begin(), origins.end(), "*") != origins.end();
  if (!any && std::find(origins.begin(), origins.end(), *origin) == origins.end()) return {};
  return {{"Access-Control-Allow-Origin", any ? "*" : *origin},
          {"Access-Control-Expose-Headers",
           "X-Request-Id, Retry-After, X-Reproducibility-Tier, X-Reproducibility-Error, X-Inference-Fingerprint, "
           "X-Result-Cache"},
          {"Vary", "Origin"}};
}

std::optional<http::Response> CorsPreflight(const http::Request& request, const std::vector<std::string>& origins) {
  if (request.method != "OPTIONS" || request.Header("access-control-request-method") == nullptr) return std::nullopt;
  http::Response response;
  response.headers = CorsHeaders(request, origins);
  if (response.headers.empty()) return std::nullopt;
  response.content_type = "";
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "Authorization, Content-Type, X-Request-Id, X-Reproducibility-Tier");
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

}  // namespace samebit::server
