#include "model/json_fields.h"

#include "base/json_kind.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "model/describe.h"
#include "world/file.h"

namespace samebit::model {

namespace json = boost::json;

Result<std::unique_ptr<JsonFields>> JsonFields::ReadFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, world::ReadWholeFile(path, limits::kJsonFileBytesMax));
  return Parse(text, path);
}

Result<std::unique_ptr<JsonFields>> JsonFields::Parse(std::string_view text, const std::string& where) {
  ASSIGN_OR_RETURN(json::value read, ReadJson(text, where));
  if (!read.is_object()) return FileError(ErrorCode::kMalformed, where, AtByte(0), "an object", JsonKindName(&read));
  auto document = std::make_shared<const json::value>(std::move(read));
  const json::object& object = document->get_object();
  return std::make_unique<JsonFields>(std::move(document), object, where);
}

const json::value* JsonFields::Find(std::string_view key) const {
  const json::value* value = object_.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool JsonFields::Has(std::string_view key) const { return Find(key) != nullptr; }

Result<uint64_t> JsonFields::Unsigned(std::string_view key) const {
  const json::value* value = Find(key);
  if (value != nullptr && value->is_uint64()) return value->get_uint64();
  if (value != nullptr && value->is_int64() && value->get_int64() >= 0)
    return static_cast<uint64_t>(value->get_int64());
  return WrongType(key, "a whole number of at least 0");
}

Result<double> JsonFields::Number(std::string_view key) const {
  const json::value* value = Find(key);
  if (value != nullptr && value->is_double()) return value->get_double();
  if (value != nullptr && value->is_int64()) return static_cast<double>(value->get_int64());
  if (value != nullptr && value->is_uint64()) return static_cast<double>(value->get_uint64());
  return WrongType(key, "a number");
}

Result<bool> JsonFields::Boolean(std::string_view key) const {
  const json::value* value = Find(key);
  if (value != nullptr && value->is_bool()) return value->get_bool();
  return WrongType(key, "a boolean");
}

Result<std::string> JsonFields::Text(std::string_view key) const {
  const json::value* value = Find(key);
  if (value != nullptr && value->is_string()) return std::string(value->get_string());
  return WrongType(key, "a string");
}

Result<std::vector<std::string>> JsonFields::Texts(std::string_view key) const {
  const json::value* value = Find(key);
  if (value == nullptr || !value->is_array()) return WrongType(key, "an array of strings");
  std::vector<std::string> texts;
  for (const json::value& element : value->get_array()) {
    if (!element.is_string()) {
      return Complain(ErrorCode::kMalformed, key, "an array of strings",
                      std::string(JsonKindName(&element)) + " in it");
    }
    texts.emplace_back(element.get_string());
  }
  return texts;
}

Result<std::unique_ptr<Fields>> JsonFields::Object(std::string_view key) const {
  const json::value* value = Find(key);
  if (value == nullptr || !value->is_object()) return WrongType(key, "an object");
  return std::unique_ptr<Fields>(
      std::make_unique<JsonFields>(document_, value->get_object(), where_ + ": in " + Printable(key)));
}

Error JsonFields::Complain(ErrorCode code, std::string_view key, const std::string& expected,
                           const std::string& found) const {
  return FileError(code, where_, "key " + Printable(key), expected, found);
}

Error JsonFields::WrongType(std::string_view key, const char* expected) const {
  return Complain(ErrorCode::kMalformed, key, expected, JsonKindName(object_.if_contains(key)));
}

}  // namespace samebit::model
