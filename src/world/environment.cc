#include "world/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace samebit::world {

std::optional<std::string> EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::vector<std::pair<std::string, std::string>> EnvironmentVariables(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || !text.starts_with(prefix)) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace samebit::world
