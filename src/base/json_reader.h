// JSON from strangers: bounded depth, no duplicate keys, numbers converted exactly.
//
// Wraps Boost.JSON, which by itself keeps the last of two equal keys and reads some decimals a bit off; here two equal
// keys are an error and every number is what std::from_chars gives. Not for: writing JSON; not in numeric-only builds.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace samebit {

struct JsonReadOptions {
  // Values of these keys of the outermost object are checked for syntax and dropped (null stands in their place):
  // a tokenizer's vocabulary need not be built in memory to read what stands beside it. Keys inside them may repeat.
  std::vector<std::string_view> skipped_keys;
  uint64_t values_max = limits::kJsonValuesMax;  // that are built
};

// text: one JSON document. where: the file, for messages.
// Failures: kMalformed with the byte offset (syntax, a repeated key, not UTF-8, a number outside double),
// kTooLarge (nested deeper than limits::kJsonDepthMax, more than values_max values).
Result<boost::json::value> ReadJson(std::string_view text, const std::string& where,
                                    const JsonReadOptions& options = {});

}  // namespace samebit
