// Writes JSON text: two-space indent, keys in the order given, numbers in their shortest exact form. Not thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samebit::verify {

// The caller opens and closes objects and arrays in pairs and gives a key before each value of an object.
class JsonWriter {
 public:
  enum class Layout { kIndented, kCompact };
  explicit JsonWriter(Layout layout) : layout_(layout) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view key);

  void String(std::string_view text);   // bytes that are not UTF-8 become U+FFFD
  void Integer(int64_t number);
  void Unsigned(uint64_t number);
  void Number(double number);           // null where it is not finite: JSON has no word for it
  void Number(float number);            // the shortest text that gives the same binary32
  void Bool(bool value);
  void Null();

  const std::string& text() const { return text_; }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void BeforeValue();
  void NewLine();

  Layout layout_;
  std::string text_;
  std::vector<bool> has_values_;  // per open object or array
  bool after_key_ = false;
};

// `text` between quotes, escaped.
std::string JsonQuoted(std::string_view text);

}  // namespace samebit::verify
