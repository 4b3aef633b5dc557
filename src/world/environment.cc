#include "world/environment.h"

#include <cstdlib>

namespace samebit::world {

std::optional<std::string> EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace samebit::world
