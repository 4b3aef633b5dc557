#include "verify/json_fields.h"

#include <bit>
#include <charconv>

namespace samebit::verify {

namespace json = boost::json;

const json::value* FieldOf(const json::object& object, std::string_view key) {
  return object.if_contains({key.data(), key.size()});
}

Error FieldError(std::string_view key, const std::string& expected) {
  return Error{ErrorCode::kMalformed, "\"" + std::string(key) + "\": expected " + expected};
}

JsonFields::JsonFields(const json::value& value) : object_(value.if_object()) {
  if (object_ == nullptr) Fail(FieldError("(value)", "an object"));
}

uint64_t JsonFields::Unsigned(std::string_view key, uint64_t max) {
  const json::value& value = Value(key);
  if (value.is_int64() && value.get_int64() >= 0 && static_cast<uint64_t>(value.get_int64()) <= max)
    return static_cast<uint64_t>(value.get_int64());
  if (value.is_uint64() && value.get_uint64() <= max) return value.get_uint64();
  Fail(FieldError(key, "a whole number from 0 to " + std::to_string(max)));
  return 0;
}

float JsonFields::Bits(std::string_view key) { return std::bit_cast<float>(Unsigned32(key)); }

bool JsonFields::Bool(std::string_view key) {
  const json::value& value = Value(key);
  if (value.is_bool()) return value.get_bool();
  Fail(FieldError(key, "true or false"));
  return false;
}

std::string JsonFields::Text(std::string_view key) {
  const json::value& value = Value(key);
  if (value.is_string()) return std::string(value.get_string().data(), value.get_string().size());
  Fail(FieldError(key, "a string"));
  return "";
}

uint64_t JsonFields::TextNumber(std::string_view key) {
  const std::string text = Text(key);
  uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) Fail(FieldError(key, "digits"));
  return number;
}

const json::array& JsonFields::Array(std::string_view key) {
  static const json::array kEmpty;
  const json::value& value = Value(key);
  if (value.is_array()) return value.get_array();
  Fail(FieldError(key, "a list"));
  return kEmpty;
}

std::vector<uint32_t> JsonFields::Numbers(std::string_view key) {
  std::vector<uint32_t> numbers;
  for (const json::value& value : Array(key)) {
    if (!value.is_int64() || value.get_int64() < 0 || value.get_int64() > UINT32_MAX) {
      Fail(FieldError(key, "whole numbers of 32 bits"));
      break;
    }
    numbers.push_back(static_cast<uint32_t>(value.get_int64()));
  }
  return numbers;
}

void JsonFields::Fail(Error error) {
  if (!error_) error_ = std::move(error);
}

const json::value& JsonFields::Value(std::string_view key) const {
  static const json::value kNull;
  const json::value* value = object_ == nullptr ? nullptr : FieldOf(*object_, key);
  return value == nullptr ? kNull : *value;
}

}  // namespace samebit::verify
