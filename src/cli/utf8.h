// UTF-8 made valid, for text that goes into JSON or onto a terminal.
#pragma once

#include <string>
#include <string_view>

namespace samebit::cli {

// Every byte that is not part of a well-formed character becomes U+FFFD.
std::string ValidUtf8(std::string_view bytes);

}  // namespace samebit::cli
