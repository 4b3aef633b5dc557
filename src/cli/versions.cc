#include "cli/versions.h"

#include <CLI/Version.hpp>
#include <boost/version.hpp>
#include <openssl/crypto.h>

#include "arith/environment.h"

namespace samebit::cli {

const char* OwnVersion() { return SAMEBIT_VERSION; }

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
