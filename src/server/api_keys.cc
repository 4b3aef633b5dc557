#include "server/api_keys.h"

#include <algorithm>
#include <charconv>

namespace samebit::server {
namespace {

constexpr uint32_t kLimitMax = 1'000'000;  // more than any machine answers in a minute

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

// "name=N".
bool ParseLimit(std::string_view word, std::string_view name, std::optional<uint32_t>& limit) {
  if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=' || limit) return false;
  word.remove_prefix(name.size() + 1);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number > kLimitMax) return false;
  limit = number;
  return true;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// What is wrong with the line, or "".
std::string ParseLine(std::string_view line, ApiKey& key) {
  const std::vector<std::string_view> words = Words(line);
  if (line.front() == ' ' || words.size() < 2 || !ParseDigest(words[1], key.digest))
    return "expected a name, a space and 64 hex digits of the key's SHA-256";
  key.name = std::string(words[0]);
  for (size_t i = 2; i < words.size(); ++i) {
    if (!ParseLimit(words[i], "requests-per-minute", key.limits.requests_per_minute) &&
        !ParseLimit(words[i], "in-flight", key.limits.in_flight))
      return "behind the key expected requests-per-minute=N or in-flight=N, once each, N up to " +
             std::to_string(kLimitMax);
  }
  return "";
}

bool IsBearer(std::string_view scheme) {
  static constexpr std::string_view kBearer = "bearer ";
  if (scheme.size() != kBearer.size()) return false;
  for (size_t i = 0; i < scheme.size(); ++i) {
    const char lower = scheme[i] >= 'A' && scheme[i] <= 'Z' ? static_cast<char>(scheme[i] + 32) : scheme[i];
    if (lower != kBearer[i]) return false;
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
    ApiKey key;
    std::string wrong = ParseLine(line, key);
    for (const ApiKey& other : keys.keys_) {
      if (other.name == key.name) wrong = "the name stands twice";
      if (other.digest == key.digest) wrong = "the key stands twice";
    }
    if (!wrong.empty()) return Error{ErrorCode::kMalformed, where + ": line " + std::to_string(number) + ": " + wrong};
    keys.keys_.push_back(std::move(key));
  }
  if (keys.keys_.empty()) return Error{ErrorCode::kMalformed, where + ": expected at least one key, found none"};
  return keys;
}

const ApiKey* ApiKeys::Find(const std::string* authorization) const {
  static constexpr size_t kSchemeBytes = 7;
  const std::string_view given = authorization == nullptr ? std::string_view() : std::string_view(*authorization);
  const bool has_scheme = IsBearer(given.substr(0, kSchemeBytes));
  // A hash of what was given is compared, so that neither length nor content shows in the time.
  const Sha256Digest digest = Sha256::Of(has_scheme ? given.substr(kSchemeBytes) : given);
  const ApiKey* found = nullptr;
  for (const ApiKey& key : keys_) {
    if (EqualInConstantTime(key.digest, digest)) found = &key;
  }
  return has_scheme ? found : nullptr;
}

}  // namespace samebit::server
