#include "base/decimal.h"

#include <charconv>

#include "base/check.h"

namespace samebit {
namespace {

template <class Number>
std::string Shortest(Number value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  CHECK(error == std::errc());
  return std::string(buffer, end);
}

}  // namespace

std::string Decimal(float value) { return Shortest(value); }
std::string Decimal(double value) { return Shortest(value); }

}  // namespace samebit
