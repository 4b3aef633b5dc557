#include <cmath>

#include "base/limits.h"
#include "model/describe.h"
#include "model/family_shape.h"

namespace samebit::model {
namespace {

// Activations are quantized in blocks of 32 (rule Q) and every known model keeps to it.
constexpr uint32_t kWidthUnit = 32;
// Attention kernels take a head in steps of 16.
constexpr uint32_t kHeadUnit = 16;

struct Requirement {
  bool met;
  ErrorCode code;
  const char* place;
  const char* expected;
  std::string found;
};

bool PositiveUpTo(double value, double most) { return value > 0 && value <= most; }  // false for NaN

}  // namespace

Status CheckConfig(const ModelConfig& config, const std::string& file) {
  constexpr ErrorCode kMalformed = ErrorCode::kMalformed;
  constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;
  bool any_local = false;
  for (const bool local : config.layer_is_local) any_local |= local;
  const RopeScaling& scaling = config.rope_scaling;
  const bool scaled = scaling.kind != RopeScaling::Kind::kNone;
  const bool llama3 = scaling.kind == RopeScaling::Kind::kLlama3;

  const Requirement requirements[] = {
      {config.heads % config.kv_heads == 0, kMalformed, "key-value heads", "a divisor of the heads",
       std::to_string(config.kv_heads) + " for " + std::to_string(config.heads) + " heads"},
      {config.head_size % kHeadUnit == 0 && config.head_size > 0, kUnsupported, "head size", "a multiple of 16",
       std::to_string(config.head_size)},
      {config.width % kWidthUnit == 0, kUnsupported, "width", "a multiple of 32", std::to_string(config.width)},
      {config.ffn_width % kWidthUnit == 0, kUnsupported, "feed-forward width", "a multiple of 32",
       std::to_string(config.ffn_width)},
      {config.norm_epsilon >= 0 && config.norm_epsilon < 1, kMalformed, "norm epsilon", "a number from 0 to 1",
       std::to_string(config.norm_epsilon)},
      // Above 1e12 the slowest pair would turn less than 1e-6 over the longest context: not a rotary base.
      {config.rope_base >= 1 && config.rope_base <= 1e12, kMalformed, "rope base", "a number from 1 to 1e12",
       std::to_string(config.rope_base)},
      {config.rope_base_local >= 1 && config.rope_base_local <= 1e12, kMalformed, "local rope base",
       "a number from 1 to 1e12", std::to_string(config.rope_base_local)},
      {!scaled || (scaling.factor >= 1 && scaling.factor <= 1e6), kMalformed, "rope scaling factor",
       "a number in [1, 1e6]", std::to_string(scaling.factor)},
      {!llama3 ||
           (PositiveUpTo(scaling.low_frequency_factor, 1e6) && PositiveUpTo(scaling.high_frequency_factor, 1e6) &&
            scaling.low_frequency_factor < scaling.high_frequency_factor),
       kMalformed, "llama3 rope scaling", "low and high frequency factors with 0 < low < high",
       std::to_string(scaling.low_frequency_factor) + " and " + std::to_string(scaling.high_frequency_factor)},
      {!any_local || config.sliding_window > 0, kMalformed, "sliding window", "a window, because layers are local",
       "none"},
      {config.sliding_window <= limits::kContextMax, ErrorCode::kTooLarge, "sliding window", "at most 1048576",
       std::to_string(config.sliding_window)},
      {PositiveUpTo(config.attention_scale, 1e3), kMalformed, "attention scale", "a number over 0, at most 1000",
       std::to_string(config.attention_scale)},
  };
  for (const Requirement& requirement : requirements) {
    if (!requirement.met) {
      return FileError(requirement.code, file, requirement.place, requirement.expected, requirement.found);
    }
  }
  return {};
}

}  // namespace samebit::model
