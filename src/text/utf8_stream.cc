#include "text/utf8_stream.h"

#include <cstdint>

namespace samebit::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What may follow a lead byte (Unicode, table 3-7): how many bytes, and the range of the first of them. The others
// are 80..BF.
struct Lead {
  int following = -1;  // -1: not a lead byte
  uint8_t low = 0x80, high = 0xBF;
};

Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {0};
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};  // no surrogates
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  if (byte == 0xF4) return {3, 0x80, 0x8F};  // nothing above U+10FFFF
  return {};
}

enum class Kind { kCharacter, kInvalid, kCut };
struct Unit {
  Kind kind;
  size_t size;
};

// The character or maximal invalid subsequence at the start of bytes, which is not empty.
Unit Next(std::string_view bytes) {
  const Lead lead = LeadOf(static_cast<uint8_t>(bytes[0]));
  if (lead.following < 0) return {Kind::kInvalid, 1};
  uint8_t low = lead.low, high = lead.high;
  for (size_t i = 1; i <= static_cast<size_t>(lead.following); ++i) {
    if (i == bytes.size()) return {Kind::kCut, i};
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    if (byte < low || byte > high) return {Kind::kInvalid, i};
    low = 0x80;
    high = 0xBF;
  }
  return {Kind::kCharacter, static_cast<size_t>(lead.following) + 1};
}

}  // namespace

std::string DecodeUtf8(std::string_view bytes, std::string* pending) {
  const std::string all = *pending + std::string(bytes);
  pending->clear();
  std::string out;
  for (size_t at = 0; at < all.size();) {
    const Unit unit = Next(std::string_view(all).substr(at));
    switch (unit.kind) {
      case Kind::kCharacter: out.append(all, at, unit.size); break;
      case Kind::kInvalid: out += kReplacement; break;
      case Kind::kCut: pending->assign(all, at); break;
    }
    at += unit.size;
  }
  return out;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Unit unit = Next(bytes);
    if (unit.kind != Kind::kCharacter) return false;
    bytes.remove_prefix(unit.size);
  }
  return true;
}

}  // namespace samebit::text
