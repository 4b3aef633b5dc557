// Writes JSON text, front to back, keys in the order given: numbers as their shortest exact decimal (base/decimal.h),
// strings always valid UTF-8 (broken bytes become U+FFFD). The caller opens and closes in order and gives a key before
// each value of an object; commas and line breaks are the writer's job. Not thread safe.
// Not for: reading JSON (base/json_reader.h), or the canonical form that is hashed.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samebit {

class JsonWriter {
 public:
  enum class Layout {
    kCompact,   // one line without spaces
    kIndented,  // a line for each value, two spaces a level
  };
  explicit JsonWriter(Layout layout = Layout::kCompact) : layout_(layout) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);

  JsonWriter& Text(std::string_view value);
  template <std::integral Whole>
    requires(!std::same_as<Whole, bool>)
  JsonWriter& Number(Whole value) {
    return Verbatim(std::to_string(value));
  }
  // null where it is not finite: JSON has no word for it. Who cannot bear that checks first.
  JsonWriter& Number(float value);
  JsonWriter& Number(double value);
  JsonWriter& Bool(bool value) { return Verbatim(value ? "true" : "false"); }
  JsonWriter& Null() { return Verbatim("null"); }
  JsonWriter& Verbatim(std::string_view json);  // a value that is JSON already

  // The finished text. Precondition: everything that was opened is closed.
  std::string Finish();

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void BeforeValue();
  void NewLine();

  Layout layout_;
  std::string out_;
  std::vector<bool> has_values_;  // per open object or array
  bool after_key_ = false;
};

// `text` between quotes, escaped.
std::string JsonQuoted(std::string_view text);

}  // namespace samebit
