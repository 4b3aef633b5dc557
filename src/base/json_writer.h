// Writes JSON text, front to back: numbers by std::to_chars (shortest decimal that reads back as the same bits),
// strings always valid UTF-8 (broken bytes become U+FFFD). The caller opens and closes in order; commas are its job.
// Not for: reading JSON, or the canonical form that is hashed.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samebit {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);

  JsonWriter& Text(std::string_view value);
  JsonWriter& Number(std::integral auto value) { return Verbatim(std::to_string(value)); }
  JsonWriter& Number(float value);   // must be finite
  JsonWriter& Number(double value);  // must be finite
  JsonWriter& Bool(bool value) { return Verbatim(value ? "true" : "false"); }
  JsonWriter& Verbatim(std::string_view json);  // a value that is JSON already

  // The finished text. Precondition: everything that was opened is closed.
  std::string Finish();

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();

  std::string out_;
  std::vector<bool> has_member_;  // per open bracket
  bool after_key_ = false;
};

}  // namespace samebit
