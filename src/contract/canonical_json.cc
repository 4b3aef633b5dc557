#include "contract/canonical_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace samebit::contract {
namespace {

namespace json = boost::json;

void AppendString(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// Orders UTF-8 as its UTF-16 form: bytes do, except that U+E000..U+FFFF (lead bytes EE, EF) come after the surrogate
// pairs of the characters beyond (lead bytes F0..F4).
bool Utf16Less(std::string_view a, std::string_view b) {
  const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at_b == b.end()) return false;
  if (at_a == a.end()) return true;
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0xEE || byte == 0xEF) return byte + 0x100;
    return static_cast<int>(byte);
  };
  return rank(*at_a) < rank(*at_b);
}

void Append(const json::value& value, std::string& out) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      out += CanonicalNumber(static_cast<double>(value.get_int64()));
      return;
    case json::kind::uint64:
      out += CanonicalNumber(static_cast<double>(value.get_uint64()));
      return;
    case json::kind::double_:
      out += CanonicalNumber(value.get_double());
      return;
    case json::kind::string:
      AppendString({value.get_string().data(), value.get_string().size()}, out);
      return;
    case json::kind::array: {
      out += '[';
      bool first = true;
      for (const json::value& element : value.get_array()) {
        if (!first) out += ',';
        first = false;
        Append(element, out);
      }
      out += ']';
      return;
    }
    case json::kind::object: {
      std::vector<const json::key_value_pair*> members;
      for (const json::key_value_pair& member : value.get_object()) members.push_back(&member);
      std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
        return Utf16Less({a->key().data(), a->key().size()}, {b->key().data(), b->key().size()});
      });
      out += '{';
      bool first = true;
      for (const json::key_value_pair* member : members) {
        if (!first) out += ',';
        first = false;
        AppendString({member->key().data(), member->key().size()}, out);
        out += ':';
        Append(member->value(), out);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::string CanonicalNumber(double value) {
  CHECK(std::isfinite(value));
  if (value == 0) return "0";  // -0 too
  // "d.ddde+XX": the shortest digits that read back as the same double.
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  CHECK(error == std::errc());
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  std::string out;
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 1) digits += text.substr(2, e - 2);
  std::string_view exponent_text = text.substr(e + 1);
  if (exponent_text.front() == '+') exponent_text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);

  // The names of ECMA-262: k digits, the point after the n-th.
  const int k = static_cast<int>(digits.size()), n = exponent + 1;
  if (k <= n && n <= 21) return out + digits + std::string(static_cast<size_t>(n - k), '0');
  if (0 < n && n <= 21) return out + digits.substr(0, static_cast<size_t>(n)) + "." + digits.substr(static_cast<size_t>(n));
  if (-6 < n && n <= 0) return out + "0." + std::string(static_cast<size_t>(-n), '0') + digits;
  out += digits[0];
  if (k > 1) out += "." + digits.substr(1);
  return out + "e" + (n > 0 ? "+" : "-") + std::to_string(n > 0 ? n - 1 : 1 - n);
}

std::string CanonicalJson(const json::value& value) {
  std::string out;
  Append(value, out);
  return out;
}

}  // namespace samebit::contract
