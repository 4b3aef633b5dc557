#include "base/json_writer.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/decimal.h"
#include "base/valid_utf8.h"

namespace samebit {

std::string JsonQuoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : ValidUtf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
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

JsonWriter& JsonWriter::Key(std::string_view name) {
  CHECK(!after_key_);
  BeforeValue();
  out_ += JsonQuoted(name);
  out_ += layout_ == Layout::kCompact ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view value) { return Verbatim(JsonQuoted(value)); }

JsonWriter& JsonWriter::Number(float value) { return std::isfinite(value) ? Verbatim(Decimal(value)) : Null(); }

JsonWriter& JsonWriter::Number(double value) { return std::isfinite(value) ? Verbatim(Decimal(value)) : Null(); }

JsonWriter& JsonWriter::Verbatim(std::string_view json) {
  BeforeValue();
  out_ += json;
  return *this;
}

std::string JsonWriter::Finish() {
  CHECK(has_values_.empty() && !after_key_);
  return std::move(out_);
}

JsonWriter& JsonWriter::Open(char bracket) {
  BeforeValue();
  out_ += bracket;
  has_values_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  CHECK(!has_values_.empty() && !after_key_);
  const bool had_values = has_values_.back();
  has_values_.pop_back();
  if (had_values) NewLine();
  out_ += bracket;
  return *this;
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_values_.empty()) return;
  if (has_values_.back()) out_ += ',';
  has_values_.back() = true;
  NewLine();
}

void JsonWriter::NewLine() {
  if (layout_ == Layout::kCompact) return;
  out_ += '\n';
  out_.append(2 * has_values_.size(), ' ');
}

}  // namespace samebit
