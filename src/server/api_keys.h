// Who may ask: API keys, kept as SHA-256. Immutable; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace samebit::server {

// Nothing: what the operator says for all keys; 0: no limit.
struct KeyLimits {
  std::optional<uint32_t> requests_per_minute;
  std::optional<uint32_t> in_flight;
};

struct ApiKey {
  std::string name;
  Sha256Digest digest;
  KeyLimits limits;
};

class ApiKeys {
 public:
  // No keys: everybody may ask.
  ApiKeys() = default;
  // One key a line: "<name> <SHA-256 of the key, 64 hex digits>", and behind it, in any order and each at most once,
  // "requests-per-minute=N" and "in-flight=N"; empty lines and lines that begin with # are skipped.
  // Failure: kMalformed, with the line (a name or a key twice, too).
  static Result<ApiKeys> Parse(std::string_view text, const std::string& where);

  bool required() const { return !keys_.empty(); }
  // The key in "Bearer <key>" (the scheme in any case); null: refused. The same steps are taken whichever key is or is not
  // there, and for no header at all.
  const ApiKey* Find(const std::string* authorization) const;

 private:
  std::vector<ApiKey> keys_;
};

}  // namespace samebit::server
