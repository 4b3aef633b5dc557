// Which web pages of other origins may ask from a browser. Nobody by default.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace samebit::server {

// "https://example.org", "http://localhost:3000" or "*". Failure: kInvalidArgument.
Status CheckOrigin(std::string_view origin);

// The headers that let the request's page read the answer; none where it has no origin, or one that is not in the list.
std::vector<std::pair<std::string, std::string>> CorsHeaders(const http::Request& request,
                                                             const std::vector<std::string>& origins);
// The answer to the question that a browser asks before a request; nothing where this is not one, or not for this origin.
std::optional<http::Response> CorsPreflight(const http::Request& request, const std::vector<std::string>& origins);

}  // namespace samebit::server
