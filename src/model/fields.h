// Keys and values of a model's configuration, whatever file they stand in.
//
// For: the family files, which read GGUF metadata and config.json through this one view. Not for: tensors, tokenizers.
// A key whose value is null counts as absent. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::model {

class Fields {
 public:
  virtual ~Fields() = default;

  virtual bool Has(std::string_view key) const = 0;

  // Failures: kMalformed (absent, or a value of another type; the message has file, key, expected and found),
  // kUnsupported (one value per layer where this build takes one for all).
  virtual Result<uint64_t> Unsigned(std::string_view key) const = 0;
  virtual Result<double> Number(std::string_view key) const = 0;  // finite
  virtual Result<bool> Boolean(std::string_view key) const = 0;
  virtual Result<std::string> Text(std::string_view key) const = 0;
  virtual Result<std::vector<std::string>> Texts(std::string_view key) const = 0;
  virtual Result<std::unique_ptr<Fields>> Object(std::string_view key) const = 0;

  // A failure about one key.
  virtual Error Complain(ErrorCode code, std::string_view key, const std::string& expected,
                         const std::string& found) const = 0;

  // The same with a value for an absent key.
  Result<uint64_t> UnsignedOr(std::string_view key, uint64_t absent) const;
  Result<double> NumberOr(std::string_view key, double absent) const;
  Result<bool> BooleanOr(std::string_view key, bool absent) const;
  Result<std::string> TextOr(std::string_view key, const std::string& absent) const;

  // A whole number from 1 to most. Failures: kMalformed (0 or not a number), kTooLarge.
  Result<uint32_t> Dimension(std::string_view key, uint32_t most) const;
  Result<uint32_t> DimensionOr(std::string_view key, uint32_t most, uint32_t absent) const;
};

}  // namespace samebit::model
