// The flags of `serve` that say who may ask, how, and what is written down about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flag_table.h"
#include "server/server.h"

namespace samebit::cli {

struct AccessFlags {
  std::optional<std::string> tls_certificate, tls_key;
  std::optional<uint32_t> key_requests_per_minute, key_in_flight, first_byte_seconds, body_seconds;
  std::vector<std::string> cors_origins;
  bool log_prompts = false;

  std::vector<Flag> flags();
  // Failures: kInvalidArgument (one TLS file without the other), those of http::CheckTls.
  Status Configure(server::ServerConfig& config) const;
};

}  // namespace samebit::cli
