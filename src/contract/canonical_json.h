// Canonical JSON (RFC 8785): one text for one value, so that it can be hashed. Keys by UTF-16 code units, numbers as
// ECMAScript writes them, the shortest escapes. Not for: answers to clients, where order is for people.
#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace samebit::contract {

// Precondition: strings are UTF-8 and numbers finite, as ReadJson and our own documents give them. Integers beyond 2^53
// are written as the double that they become, as the RFC says: put 64-bit integers into strings.
std::string CanonicalJson(const boost::json::value& value);

// ECMAScript's Number::toString of a finite number.
std::string CanonicalNumber(double value);

}  // namespace samebit::contract
