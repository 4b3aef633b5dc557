#include "server/api_keys.h"

#include <charconv>

namespace samebit::server {
namespace {

// All bytes are looked at, whatever the first ones say.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b) {
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.bytes.size(); ++i) difference = difference | (a.bytes[i] ^ b.bytes[i]);
  return difference == 0;
}

bool ParseDigest(std::string_view hex, Sha256Digest& digest) {
  if (hex.size() != 2 * digest.bytes.size()) return false;
  for (size_t i = 0; i < digest.bytes.size(); ++i) {
    const char* begin = hex.data() + 2 * i;
    if (std::from_chars(begin, begin + 2, digest.bytes[i], 16).ptr != begin + 2) return false;
  }
  return true;
}

}  // namespace

Result<ApiKeys> ApiKeys::Parse(std::string_view text, const std::string& where) {
  ApiKeys keys;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const size_t space = line.find(' ');
    Key key;
    if (space == std::string_view::npos || space == 0 || !ParseDigest(line.substr(space + 1), key.digest)) {
      return Error{ErrorCode::kMalformed, where + ": line " + std::to_string(number) +
                                              ": expected a name, a space and 64 hex digits of the key's SHA-256"};
    }
    key.name = std::string(line.substr(0, space));
    keys.keys_.push_back(std::move(key));
  }
  if (keys.keys_.empty()) return Error{ErrorCode::kMalformed, where + ": expected at least one key, found none"};
  return keys;
}

std::optional<std::string> ApiKeys::NameOf(const std::string* authorization) const {
  static constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = authorization == nullptr ? std::string_view() : std::string_view(*authorization);
  const bool has_scheme = given.starts_with(kScheme);
  // A hash of what was given is compared, so that neither length nor content shows in the time.
  const Sha256Digest digest = Sha256::Of(has_scheme ? given.substr(kScheme.size()) : given);
  const Key* found = nullptr;
  for (const Key& key : keys_) {
    if (EqualInConstantTime(key.digest, digest)) found = &key;
  }
  if (found == nullptr || !has_scheme) return std::nullopt;
  return found->name;
}

}  // namespace samebit::server
