// UTF-8 decoding of a byte stream that may be cut anywhere, by the WHATWG rules.
#pragma once

#include <string>
#include <string_view>

namespace samebit::text {

// Decodes *pending + bytes. Whole characters are returned; each maximal invalid subsequence becomes one U+FFFD; a
// possibly incomplete character at the end (at most 3 bytes) is left in *pending for the next call.
std::string DecodeUtf8(std::string_view bytes, std::string* pending);

bool IsUtf8(std::string_view bytes);

}  // namespace samebit::text
