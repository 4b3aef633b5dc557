// Makes text safe to stand in JSON and reports: whatever a prompt, a path or a model's name holds, it stays readable.
#pragma once

#include <string>
#include <string_view>

namespace samebit {

// The text itself where it is UTF-8; else with each byte that is not part of a character as U+FFFD. Also refused as
// characters: surrogates, numbers over 0x10FFFF, over-long forms.
std::string ValidUtf8(std::string_view text);
// Whether ValidUtf8 would leave the text as it is.
bool IsValidUtf8(std::string_view text);

}  // namespace samebit
