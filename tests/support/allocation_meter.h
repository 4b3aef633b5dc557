// Counts what a test program allocates: link allocation_meter.cc and ask. For the promise that a lying file cannot make
// the reader take memory.
#pragma once

#include <cstdint>

namespace samebit::test {

// Bytes asked of operator new since the program began, by all threads.
uint64_t AllocatedBytes();

}  // namespace samebit::test
