// The page at /: one file without any other origin, built from web/ and put into the program.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samebit::server {

std::string_view PageHtml();
// What the browser may do with it: run its one script, apply its one style, ask this server.
std::vector<std::pair<std::string, std::string>> PageHeaders();

}  // namespace samebit::server
