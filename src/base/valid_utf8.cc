#include "base/valid_utf8.h"

#include <cstddef>
#include <cstdint>

namespace samebit {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Bytes of the character at the start of `text`, or 0 where there is none.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;  // over-long
  if (byte(0) == 0xed && byte(1) > 0x9f) return 0;  // surrogates
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;  // over-long
  if (byte(0) == 0xf4 && byte(1) > 0x8f) return 0;  // over 0x10FFFF
  return bytes;
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) {
      out += kReplacement;
      text.remove_prefix(1);
    } else {
      out += text.substr(0, bytes);
      text.remove_prefix(bytes);
    }
  }
  return out;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace samebit
