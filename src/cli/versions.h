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
// The commit of the source, with "-dirty" where files were changed; "unknown" outside a clone.
const char* OwnCommit();
// The compiler's flags of this build, without those of single modules.
std::string OwnCompilerFlags();

}  // namespace samebit::cli
