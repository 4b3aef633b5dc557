// Words of a text for people, as prompt lint looks for them: English, ASCII, any case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace samebit::cli {

std::string LowerCase(std::string_view text);

// Where the phrase stands as whole words, from `from` on; npos: nowhere. Both in lower case.
size_t FindPhrase(std::string_view text, std::string_view phrase, size_t from = 0);

struct Sentence {
  size_t at = 0;     // its first byte in the text
  std::string text;  // in lower case
};
// Cut at '.', '!', '?', ';' before a space, and at line ends.
std::vector<Sentence> SentencesOf(std::string_view text);

// Whether one of the three words before the place takes it back: "not", "never", "without"…
bool IsNegated(std::string_view sentence, size_t at);

// The line of the text that holds the byte, without spaces around it.
std::string LineAround(std::string_view text, size_t at);

}  // namespace samebit::cli
