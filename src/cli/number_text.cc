#include "cli/number_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "model/describe.h"

namespace samebit::cli {
namespace {

Error Refusal(const std::string& expected, std::string_view found) {
  return {ErrorCode::kInvalidArgument, "expected " + expected + ", found " + model::Printable(found)};
}

template <class Number>
bool ParseAll(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end && !text.empty();
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<uint64_t> ParseWhole(std::string_view text, uint64_t min, uint64_t max) {
  uint64_t value = 0;
  if (ParseAll(text, value) && value >= min && value <= max) return value;
  return Refusal("a whole number from " + std::to_string(min) + " to " + std::to_string(max), text);
}

Result<float> ParseDecimal(std::string_view text, float min, float max) {
  float value = 0;
  if (ParseAll(text, value) && std::isfinite(value) && value >= min && value <= max) return value;
  return Refusal("a number from " + Decimal(min) + " to " + Decimal(max), text);
}

Result<std::vector<TokenId>> ParseTokenIds(std::string_view text) {
  std::vector<TokenId> ids;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    TokenId id = 0;
    if (!ParseAll(Trimmed(text.substr(at, comma - at)), id) || id < 0) {
      return Refusal("token ids with commas between them, as in 1,2,3", text);
    }
    ids.push_back(id);
    at = comma + 1;
  }
  return ids;
}

std::string Fixed(double value, int digits) {
  char buffer[400];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  CHECK(error == std::errc());
  return std::string(buffer, end);
}

std::string FloatBits(float value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "0x%08x", std::bit_cast<uint32_t>(value));
  return buffer;
}

std::string Bytes(uint64_t bytes) {
  if (bytes >= 1ull << 30) return Fixed(static_cast<double>(bytes) / (1ull << 30), 2) + " GiB";
  if (bytes >= 1ull << 20) return Fixed(static_cast<double>(bytes) / (1ull << 20), 1) + " MiB";
  return std::to_string(bytes / 1024) + " KiB";
}

}  // namespace samebit::cli
