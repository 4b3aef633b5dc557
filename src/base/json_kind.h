// What a JSON value is, in words for a message: "expected a string, found an array".
#pragma once

#include <boost/json/value.hpp>

namespace samebit {

// "a string", "a negative whole number", ...; "nothing" for nullptr.
const char* JsonKindName(const boost::json::value* value);

}  // namespace samebit
