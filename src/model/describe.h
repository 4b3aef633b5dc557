// How failures about a file are worded: one form everywhere, so that tests and people can rely on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace samebit::model {

// "<file>: <place>: expected <expected>, found <found>". place: a byte offset, a key or a tensor.
Error FileError(ErrorCode code, const std::string& file, const std::string& place, const std::string& expected,
                const std::string& found);

// A stranger's name made safe to print: in quotes, at most 80 bytes, other than printable ASCII as \xNN.
std::string Printable(std::string_view text);

// "byte 1234".
std::string AtByte(uint64_t offset);

}  // namespace samebit::model
