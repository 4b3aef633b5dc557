#include "model/describe.h"

namespace samebit::model {

Error FileError(ErrorCode code, const std::string& file, const std::string& place, const std::string& expected,
                const std::string& found) {
  return Error{code, file + ": " + place + ": expected " + expected + ", found " + found};
}

std::string Printable(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  static constexpr size_t kShownMax = 80;
  std::string shown = "'";
  for (const char c : text.substr(0, kShownMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    }
  }
  return shown + (text.size() > kShownMax ? "...'" : "'");
}

std::string AtByte(uint64_t offset) { return "byte " + std::to_string(offset); }

}  // namespace samebit::model
