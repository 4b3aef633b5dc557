#include "support/allocation_meter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<uint64_t> allocated = 0;
}

// The other forms of operator new (arrays, nothrow) call this one by default.
void* operator new(std::size_t bytes) {
  allocated += bytes;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace samebit::test {
uint64_t AllocatedBytes() { return allocated; }
}  // namespace samebit::test
