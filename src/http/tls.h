// TLS by files: what a server needs to know of it. The rest is inside http.
#pragma once

#include <string>

#include "base/result.h"

namespace samebit::http {

struct TlsFiles {
  std::string certificate;  // PEM: the server's, then those that vouch for it
  std::string key;          // PEM, without a password
};

// Whether the two files can be used together. Failures: kIo (a file that cannot be read), kMalformed (no PEM certificate
// or key, a key with a password, a key of another certificate); each names its file.
Status CheckTls(const TlsFiles& files);

}  // namespace samebit::http
