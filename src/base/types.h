// The integers that must not be swapped: each is its own type where it crosses an interface.
#pragma once

#include <cstdint>

namespace samebit {

using TokenId = int32_t;    // index into the vocabulary; never negative once validated
using Position = uint32_t;  // absolute position of a token in its sequence, from 0

}  // namespace samebit
