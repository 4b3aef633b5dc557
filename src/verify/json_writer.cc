#include "verify/json_writer.h"

#include <charconv>
#include <cmath>

#include "base/check.h"
#include "verify/valid_utf8.h"

namespace samebit::verify {

std::string JsonQuoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : ValidUtf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void JsonWriter::NewLine() {
  if (layout_ == Layout::kCompact) return;
  text_ += '\n';
  text_.append(2 * has_values_.size(), ' ');
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_values_.empty()) return;
  if (has_values_.back()) text_ += ',';
  has_values_.back() = true;
  NewLine();
}

void JsonWriter::Open(char bracket) {
  BeforeValue();
  text_ += bracket;
  has_values_.push_back(false);
}

void JsonWriter::Close(char bracket) {
  CHECK(!has_values_.empty() && !after_key_);
  const bool had_values = has_values_.back();
  has_values_.pop_back();
  if (had_values) NewLine();
  text_ += bracket;
}

void JsonWriter::Key(std::string_view key) {
  CHECK(!after_key_);
  BeforeValue();
  text_ += JsonQuoted(key);
  text_ += layout_ == Layout::kCompact ? ":" : ": ";
  after_key_ = true;
}

void JsonWriter::String(std::string_view text) {
  BeforeValue();
  text_ += JsonQuoted(text);
}

void JsonWriter::Integer(int64_t number) {
  BeforeValue();
  text_ += std::to_string(number);
}

void JsonWriter::Unsigned(uint64_t number) {
  BeforeValue();
  text_ += std::to_string(number);
}

void JsonWriter::Number(double number) {
  BeforeValue();
  if (!std::isfinite(number)) {
    text_ += "null";
    return;
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  text_.append(buffer, end.ptr);
}

void JsonWriter::Number(float number) {
  BeforeValue();
  if (!std::isfinite(number)) {
    text_ += "null";
    return;
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  text_.append(buffer, end.ptr);
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  text_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  BeforeValue();
  text_ += "null";
}

}  // namespace samebit::verify
