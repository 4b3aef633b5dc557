// Reads the fields of a JSON object whose form is known. Used by the readers of the child protocol; not thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/result.h"

namespace samebit::verify {

// The value of `object` under `key`, or null where it is absent.
const boost::json::value* FieldOf(const boost::json::object& object, std::string_view key);

// kMalformed: "key": expected <expected>.
Error FieldError(std::string_view key, const std::string& expected);

// The first failure is kept in error(), and later reads give zeros: a reader checks once, at its end.
class JsonFields {
 public:
  // The value outlives this object. Not an object: a failure.
  explicit JsonFields(const boost::json::value& value);

  uint64_t Unsigned(std::string_view key, uint64_t max);
  uint32_t Unsigned32(std::string_view key) { return static_cast<uint32_t>(Unsigned(key, UINT32_MAX)); }
  float Bits(std::string_view key);              // a binary32 by the integer of its bits
  bool Bool(std::string_view key);
  std::string Text(std::string_view key);
  uint64_t TextNumber(std::string_view key);     // a 64-bit number as a string of digits
  const boost::json::value& Value(std::string_view key) const;  // null where absent
  const boost::json::array& Array(std::string_view key);
  std::vector<uint32_t> Numbers(std::string_view key);

  void Fail(Error error);
  const std::optional<Error>& error() const { return error_; }

 private:
  const boost::json::object* object_;
  std::optional<Error> error_;
};

}  // namespace samebit::verify
