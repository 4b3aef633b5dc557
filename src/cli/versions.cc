#include "cli/versions.h"

#include <algorithm>

#include <CLI/Version.hpp>
#include <boost/version.hpp>
#include <openssl/crypto.h>

#include "arith/environment.h"

#include SAMEBIT_COMMIT_HEADER

namespace samebit::cli {

const char* OwnVersion() { return SAMEBIT_VERSION; }
const char* OwnCommit() { return SAMEBIT_COMMIT; }
std::string OwnCompilerFlags() {
  std::string flags = SAMEBIT_FLAGS;
  return flags.substr(std::min(flags.find_first_not_of(' '), flags.size()));
}

std::vector<NamedVersion> Versions() {
#if defined(__clang__)
  const std::string compiler = "clang";
#else
  const std::string compiler = "g++";
#endif
  return {
      {"samebit", OwnVersion()},    {"arithmetic", arith::kArithmeticVersion},     {compiler, __VERSION__},
      {"boost", BOOST_LIB_VERSION}, {"openssl", OpenSSL_version(OPENSSL_VERSION)}, {"cli11", CLI11_VERSION},
  };
}

}  // namespace samebit::cli
