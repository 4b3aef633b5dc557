#include "openai/field_reader.h"

#include <charconv>
#include <cmath>

#include "base/decimal.h"
#include "base/json_kind.h"
#include "base/valid_utf8.h"

namespace samebit::openai {

namespace json = boost::json;

ApiError NotAnObject(const json::value& body) {
  return InvalidValue("", std::string("the body: expected an object, found ") + JsonKindName(&body), "invalid_type");
}

std::optional<uint64_t> WholeOf(const json::value& value, uint64_t max) {
  uint64_t whole = 0;
  if (value.is_int64() && value.get_int64() >= 0) {
    whole = static_cast<uint64_t>(value.get_int64());
  } else if (value.is_uint64()) {
    whole = value.get_uint64();
  } else if (value.is_double() && value.get_double() >= 0 && value.get_double() <= 9007199254740992.0 &&
             std::trunc(value.get_double()) == value.get_double()) {
    whole = static_cast<uint64_t>(value.get_double());
  } else {
    return std::nullopt;
  }
  return whole <= max ? std::optional<uint64_t>(whole) : std::nullopt;
}

std::string Quoted(std::string_view text) {
  std::string shown = ValidUtf8(text.substr(0, 64));
  return "'" + shown + (text.size() > 64 ? "…'" : "'");
}

void FieldReader::Fail(ApiError error) {
  if (!error_) error_ = std::move(error);
}

std::string FieldReader::Path(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

const json::value* FieldReader::Take(std::string_view name) {
  taken_.emplace(name);
  if (error_) return nullptr;
  const json::value* value = object_.if_contains({name.data(), name.size()});
  return value == nullptr || value->is_null() ? nullptr : value;
}

void FieldReader::FailKind(std::string_view name, const char* expected, const json::value& found) {
  Fail(InvalidValue(Path(name), Path(name) + ": expected " + expected + ", found " + JsonKindName(&found), "invalid_type"));
}

std::optional<bool> FieldReader::Bool(std::string_view name) {
  const json::value* value = Take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_bool()) return value->get_bool();
  FailKind(name, "a boolean", *value);
  return std::nullopt;
}

std::optional<std::string> FieldReader::Text(std::string_view name) {
  const json::value* value = Take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string(value->get_string());
  FailKind(name, "a string", *value);
  return std::nullopt;
}

std::optional<double> FieldReader::Number(std::string_view name, double min, double max, const char* expected) {
  const json::value* value = Take(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    FailKind(name, "a number", *value);
    return std::nullopt;
  }
  const double number = value->to_number<double>();
  if (number >= min && number <= max) return number;
  Fail(InvalidValue(Path(name), Path(name) + ": expected " + expected + ", found " + Decimal(number)));
  return std::nullopt;
}

std::optional<uint32_t> FieldReader::Whole(std::string_view name, uint32_t min, uint32_t max) {
  const json::value* value = Take(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    FailKind(name, "a whole number", *value);
    return std::nullopt;
  }
  const std::optional<uint64_t> whole = WholeOf(*value, max);
  if (whole && *whole >= min) return static_cast<uint32_t>(*whole);
  Fail(InvalidValue(Path(name), Path(name) + ": expected a whole number from " + std::to_string(min) + " to " +
                                    std::to_string(max) + ", found " + Decimal(value->to_number<double>())));
  return std::nullopt;
}

std::optional<uint64_t> FieldReader::Whole64(std::string_view name) {
  const json::value* value = Take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const std::string_view text(value->get_string().data(), value->get_string().size());
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  } else if (const auto whole = WholeOf(*value, UINT64_MAX)) {
    return whole;
  }
  Fail(InvalidValue(Path(name), Path(name) + ": expected a whole number from 0 to 18446744073709551615, or the same as "
                                             "a string of digits"));
  return std::nullopt;
}

std::optional<std::vector<TokenId>> FieldReader::TokenIds(std::string_view name, uint32_t count_max) {
  const json::array* array = Array(name);
  if (array == nullptr) return std::nullopt;
  if (array->size() > count_max) {
    Fail(InvalidValue(Path(name), Path(name) + ": expected at most " + std::to_string(count_max) +
                                      " token ids, found " + std::to_string(array->size())));
    return std::nullopt;
  }
  std::vector<TokenId> ids;
  for (const json::value& element : *array) {
    const std::optional<uint64_t> id = WholeOf(element, INT32_MAX);
    if (!id) {
      const std::string place = Path(name) + "[" + std::to_string(ids.size()) + "]";
      Fail(InvalidValue(place, place + ": expected a token id", "invalid_type"));
      return std::nullopt;
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

const json::object* FieldReader::Object(std::string_view name) {
  const json::value* value = Take(name);
  if (value == nullptr) return nullptr;
  if (value->is_object()) return &value->get_object();
  FailKind(name, "an object", *value);
  return nullptr;
}

const json::array* FieldReader::Array(std::string_view name) {
  const json::value* value = Take(name);
  if (value == nullptr) return nullptr;
  if (value->is_array()) return &value->get_array();
  FailKind(name, "an array", *value);
  return nullptr;
}

std::vector<std::string> FieldReader::Unknown() const {
  std::vector<std::string> names;
  for (const json::key_value_pair& member : object_) {
    const std::string_view name(member.key().data(), member.key().size());
    if (!member.value().is_null() && !taken_.contains(name)) names.emplace_back(name);
  }
  return names;
}

}  // namespace samebit::openai
