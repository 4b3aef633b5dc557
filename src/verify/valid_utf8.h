// Makes text safe to stand in a report: whatever a prompt file, a path or a model's name holds, reports stay readable.
#pragma once

#include <string>
#include <string_view>

#include "base/valid_utf8.h"

namespace samebit::verify {

// Text for XML 1.0 and HTML, element content or a quoted attribute: markup escaped, characters that XML forbids (most
// control characters, U+FFFE, U+FFFF) as U+FFFD.
std::string MarkupText(std::string_view text);

}  // namespace samebit::verify
