// Who may ask: API keys, kept as SHA-256. Immutable; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace samebit::server {

class ApiKeys {
 public:
  // No keys: everybody may ask.
  ApiKeys() = default;
  // One key a line: "<name> <SHA-256 of the key, 64 hex digits>"; empty lines and lines that begin with # are skipped.
  // Failure: kMalformed, with the line.
  static Result<ApiKeys> Parse(std::string_view text, const std::string& where);

  bool required() const { return !keys_.empty(); }
  // The name of the key in "Bearer <key>"; nothing: refused. Takes the same time whichever key is or is not there.
  std::optional<std::string> NameOf(const std::string* authorization) const;

 private:
  struct Key {
    std::string name;
    Sha256Digest digest;
  };
  std::vector<Key> keys_;
};

}  // namespace samebit::server
