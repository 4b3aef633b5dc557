#include "verify/valid_utf8.h"

#include <cstdint>

namespace samebit::verify {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string MarkupText(std::string_view text) {
  const std::string valid = ValidUtf8(text);
  std::string out;
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const auto byte = static_cast<uint8_t>(c);
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) out += kReplacement;
    else if (byte == 0xef && valid.compare(i, 2, "\xef\xbf") == 0 && static_cast<uint8_t>(valid[i + 2]) >= 0xbe) {
      out += kReplacement;
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace samebit::verify
