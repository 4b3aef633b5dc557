#include "base/json_writer.h"

#include <cmath>
#include <cstdio>

#include "base/check.h"
#include "base/decimal.h"
#include "base/valid_utf8.h"

namespace samebit {

JsonWriter& JsonWriter::Key(std::string_view name) {
  Text(name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  Separate();
  out_ += '"';
  for (const char c : ValidUtf8(value)) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          char escape[8];
          std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
          out_ += escape;
        } else {
          out_ += c;
        }
    }
  }
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Number(float value) {
  CHECK(std::isfinite(value));
  return Verbatim(Decimal(value));
}

JsonWriter& JsonWriter::Number(double value) {
  CHECK(std::isfinite(value));
  return Verbatim(Decimal(value));
}

std::string JsonWriter::Finish() {
  CHECK(has_member_.empty());
  return std::move(out_);
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  has_member_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  CHECK(!has_member_.empty() && !after_key_);
  has_member_.pop_back();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Verbatim(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_member_.empty()) return;
  if (has_member_.back()) out_ += ',';
  has_member_.back() = true;
}

}  // namespace samebit
