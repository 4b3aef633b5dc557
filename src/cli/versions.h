// Versions of this program and of the libraries in it.
#pragma once

#include <string>
#include <vector>

namespace samebit::cli {

struct NamedVersion {
  std::string name;
  std::string version;
};

// samebit first, then the arithmetic, the compiler and the libraries.
std::vector<NamedVersion> Versions();
const char* OwnVersion();

}  // namespace samebit::cli
