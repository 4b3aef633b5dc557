#include "model/gguf_fields.h"

#include <bit>
#include <cmath>
#include <optional>

#include "base/limits.h"
#include "model/describe.h"

namespace samebit::model {
namespace {

// A signed value below zero has no unsigned form and no value here.
std::optional<uint64_t> UnsignedOf(const GgufValue& value) {
  int64_t number;
  switch (value.type) {
    case GgufType::kU8:
    case GgufType::kU16:
    case GgufType::kU32:
    case GgufType::kU64: return value.bits;
    case GgufType::kI8: number = static_cast<int8_t>(value.bits); break;
    case GgufType::kI16: number = static_cast<int16_t>(value.bits); break;
    case GgufType::kI32: number = static_cast<int32_t>(value.bits); break;
    case GgufType::kI64: number = static_cast<int64_t>(value.bits); break;
    default: return std::nullopt;
  }
  if (number < 0) return std::nullopt;
  return static_cast<uint64_t>(number);
}

}  // namespace

Result<uint64_t> GgufFields::Unsigned(std::string_view key) const {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr) return WrongType(key, "a whole number");
  if (value->type == GgufType::kArray) {
    return Complain(ErrorCode::kUnsupported, key, "one value for all layers", "an array of values");
  }
  const std::optional<uint64_t> number = UnsignedOf(*value);
  if (!number) return WrongType(key, "a whole number of at least 0");
  return *number;
}

Result<double> GgufFields::Number(std::string_view key) const {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr || (value->type != GgufType::kF32 && value->type != GgufType::kF64)) {
    return WrongType(key, "an f32 or f64");
  }
  const double number = value->type == GgufType::kF32 ? std::bit_cast<float>(static_cast<uint32_t>(value->bits))
                                                      : std::bit_cast<double>(value->bits);
  if (!std::isfinite(number)) return Complain(ErrorCode::kMalformed, key, "a finite number", "NaN or infinity");
  return number;
}

Result<bool> GgufFields::Boolean(std::string_view key) const {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr || value->type != GgufType::kBool) return WrongType(key, "a boolean");
  return value->bits != 0;
}

Result<std::string> GgufFields::Text(std::string_view key) const {
  const GgufValue* value = file_.Find(key);
  if (value == nullptr || value->type != GgufType::kString) return WrongType(key, "a string");
  return std::string(value->text);
}

Result<std::vector<std::string>> GgufFields::Texts(std::string_view key) const {
  return file_.Strings(key, limits::kGgufArrayCountMax);
}

Result<std::unique_ptr<Fields>> GgufFields::Object(std::string_view key) const {
  return WrongType(key, "an object");
}

Error GgufFields::Complain(ErrorCode code, std::string_view key, const std::string& expected,
                           const std::string& found) const {
  return FileError(code, file_.path, "key " + Printable(key), expected, found);
}

Error GgufFields::WrongType(std::string_view key, const char* expected) const {
  const GgufValue* value = file_.Find(key);
  return Complain(ErrorCode::kMalformed, key, expected, value == nullptr ? "nothing" : GgufTypeName(value->type));
}

}  // namespace samebit::model
