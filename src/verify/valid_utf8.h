// Makes text safe to stand in a report: whatever a prompt file, a path or a model's name holds, reports stay readable.
#pragma once

#include <string>
#include <string_view>

namespace samebit::verify {

// The text itself where it is UTF-8; else with each byte that is not part of a character as U+FFFD. Also refused as
// characters: surrogates, numbers over 0x10FFFF, over-long forms.
std::string ValidUtf8(std::string_view text);

// Text for XML 1.0 and HTML, element content or a quoted attribute: markup escaped, characters that XML forbids (most
// control characters, U+FFFE, U+FFFF) as U+FFFD.
std::string MarkupText(std::string_view text);

}  // namespace samebit::verify
