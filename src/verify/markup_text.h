// Makes text safe to stand in XML and HTML reports, whatever a prompt file, a path or a model's name holds.
#pragma once

#include <string>
#include <string_view>

namespace samebit::verify {

// Text for XML 1.0 and HTML, element content or a quoted attribute: markup escaped, characters that XML forbids (most
// control characters, U+FFFE, U+FFFF) and bytes that are not UTF-8 as U+FFFD.
std::string MarkupText(std::string_view text);

}  // namespace samebit::verify
