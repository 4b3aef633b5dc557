// The process environment. This is the only getenv of the program, and only cli calls it: every setting that can move
// a bit is an explicit option, so that it can stand in the fingerprint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samebit::world {

// The value of a variable, or nothing where it is not set. Not safe while another thread changes the environment.
std::optional<std::string> EnvironmentVariable(const char* name);

// Names and values of the variables whose names begin so, in the order of their names. As unsafe.
std::vector<std::pair<std::string, std::string>> EnvironmentVariables(std::string_view prefix);

}  // namespace samebit::world
