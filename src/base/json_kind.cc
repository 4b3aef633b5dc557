#include "base/json_kind.h"

namespace samebit {

namespace json = boost::json;

const char* JsonKindName(const json::value* value) {
  if (value == nullptr) return "nothing";
  switch (value->kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
      return value->get_int64() < 0 ? "a negative whole number" : "a whole number";
    case json::kind::uint64:
      return "a whole number";
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "something else";
}

}  // namespace samebit
