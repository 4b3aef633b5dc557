#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace samebit {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\nThis is a bug in samebit; please report it.\n", file, line, condition);
  std::abort();
}

}  // namespace samebit
