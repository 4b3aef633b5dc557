// Numbers as people type them on a command line: the whole text must be the number and lie within bounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/result.h"
#include "base/types.h"

namespace samebit::cli {

// Failures: kInvalidArgument, "expected a whole number from 1 to 256, found 'x'".
Result<uint64_t> ParseWhole(std::string_view text, uint64_t min, uint64_t max);
// Bounds are inclusive; NaN and infinity are refused.
Result<float> ParseDecimal(std::string_view text, float min, float max);
// "1,2,3"; spaces around the numbers are allowed; at least one.
Result<std::vector<TokenId>> ParseTokenIds(std::string_view text);

// With so many digits after the point; for people.
std::string Fixed(double value, int digits);
// "0x3f800000": the bits of a binary32.
std::string FloatBits(float value);
// "93.8 MiB", "812 KiB".
std::string Bytes(uint64_t bytes);

}  // namespace samebit::cli
