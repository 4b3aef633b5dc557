#include "model/fields.h"

namespace samebit::model {

Result<uint64_t> Fields::UnsignedOr(std::string_view key, uint64_t absent) const {
  if (!Has(key)) return absent;
  return Unsigned(key);
}

Result<double> Fields::NumberOr(std::string_view key, double absent) const {
  if (!Has(key)) return absent;
  return Number(key);
}

Result<bool> Fields::BooleanOr(std::string_view key, bool absent) const {
  if (!Has(key)) return absent;
  return Boolean(key);
}

Result<std::string> Fields::TextOr(std::string_view key, const std::string& absent) const {
  if (!Has(key)) return absent;
  return Text(key);
}

Result<uint32_t> Fields::Dimension(std::string_view key, uint32_t most) const {
  ASSIGN_OR_RETURN(const uint64_t value, Unsigned(key));
  if (value == 0) return Complain(ErrorCode::kMalformed, key, "at least 1", "0");
  if (value > most)
    return Complain(ErrorCode::kTooLarge, key, "at most " + std::to_string(most), std::to_string(value));
  return static_cast<uint32_t>(value);
}

Result<uint32_t> Fields::DimensionOr(std::string_view key, uint32_t most, uint32_t absent) const {
  if (!Has(key)) return absent;
  return Dimension(key, most);
}

}  // namespace samebit::model
