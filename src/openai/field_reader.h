// Reads the fields of one JSON object: each is taken once, checked, and named in the error; what was not taken remains
// as "unknown". null counts as absent, as clients write it. Not thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/types.h"
#include "openai/api_error.h"

namespace samebit::openai {

class FieldReader {
 public:
  // `object` outlives the reader. path: what stands before the names in errors ("messages[0]"), or "".
  FieldReader(const boost::json::object& object, std::string path) : object_(object), path_(std::move(path)) {}

  // The first failure is kept; later reads give nothing.
  const std::optional<ApiError>& error() const { return error_; }
  void Fail(ApiError error);

  // nullptr: absent or null.
  const boost::json::value* Take(std::string_view name);
  std::optional<bool> Bool(std::string_view name);
  std::optional<std::string> Text(std::string_view name);
  // Bounds are inclusive. `expected` says them in words.
  std::optional<double> Number(std::string_view name, double min, double max, const char* expected);
  std::optional<uint32_t> Whole(std::string_view name, uint32_t min, uint32_t max);
  // A whole number that may be written as a string of digits: 64 bits do not fit everybody's numbers.
  std::optional<uint64_t> Whole64(std::string_view name);
  std::optional<std::vector<TokenId>> TokenIds(std::string_view name, uint32_t count_max);
  const boost::json::object* Object(std::string_view name);
  const boost::json::array* Array(std::string_view name);

  std::string Path(std::string_view name) const;
  // The names that nobody took and whose value is not null, in the order of the document.
  std::vector<std::string> Unknown() const;

 private:
  void FailKind(std::string_view name, const char* expected, const boost::json::value& found);

  const boost::json::object& object_;
  std::string path_;
  std::set<std::string, std::less<>> taken_;
  std::optional<ApiError> error_;
};

// The refusal of a body that is no object.
ApiError NotAnObject(const boost::json::value& body);
// The value where it is a whole number within the bounds (1 and 1.0 alike).
std::optional<uint64_t> WholeOf(const boost::json::value& value, uint64_t max);
// A name from a stranger, fit to stand in a message: at most 64 characters.
std::string Quoted(std::string_view text);

}  // namespace samebit::openai
