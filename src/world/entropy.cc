#include "world/entropy.h"

#include <sys/random.h>

#include <cerrno>

#include "base/check.h"

namespace samebit::world {

uint64_t RealEntropy::Seed() {
  uint64_t seed = 0;
  ssize_t got;
  do {
    got = ::getrandom(&seed, sizeof seed, 0);
  } while (got < 0 && errno == EINTR);
  // A request of up to 256 bytes is never cut short (getrandom(2)); every kernel that runs this program has the call.
  CHECK(got == sizeof seed);
  return seed;
}

}  // namespace samebit::world
