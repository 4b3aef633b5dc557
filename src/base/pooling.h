// How the rows of a text's tokens become one vector. The words are those of the interface and of the fingerprint.
#pragma once

#include <optional>
#include <string_view>

namespace samebit {

enum class Pooling { kMean, kFirst, kLast };

// "mean", "cls", "last".
constexpr const char* PoolingName(Pooling pooling) {
  return pooling == Pooling::kMean ? "mean" : pooling == Pooling::kFirst ? "cls" : "last";
}

constexpr std::optional<Pooling> ParsePooling(std::string_view name) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst, Pooling::kLast})
    if (name == PoolingName(pooling)) return pooling;
  return std::nullopt;
}

}  // namespace samebit
