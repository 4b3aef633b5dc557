// The one way in which a binary number becomes a decimal: the shortest one that reads back as the same bits
// (std::to_chars). Not for: numbers with a fixed count of digits, which are for people.
#pragma once

#include <string>

namespace samebit {

// "0.1", "1e+300", "-0"; "inf" and "nan" where it is not finite.
std::string Decimal(float value);
std::string Decimal(double value);

}  // namespace samebit
