// JSON from outside: one value, no duplicate keys, bounded depth. Boost.JSON alone accepts duplicates in silence.
// Used by the readers of this folder; nothing throws out of it.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.h"

namespace samebit::verify {

// Failure: kMalformed with the byte where the text stops being JSON, or the key that stands twice.
Result<boost::json::value> ParseStrictJson(std::string_view text);

// A value of `object` under `key`, or null where it is absent.
const boost::json::value* FieldOf(const boost::json::object& object, std::string_view key);

}  // namespace samebit::verify
