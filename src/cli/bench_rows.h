// The rows of `samebit bench`: which prompts and how many sequences one measurement has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::cli {

enum class BenchKind {
  kPrefill,  // one prompt on an idle engine, from request to first token
  kDecode,   // sequences that all decode
  kMixed,    // a prompt that arrives while sequences decode, from request to its first token
};

struct BenchRow {
  BenchKind kind = BenchKind::kPrefill;
  uint32_t tokens = 0;  // prefill, mixed: of the prompt; decode: timed tokens of each sequence
  uint32_t batch = 1;   // sequences that decode; prefill: 1
  uint32_t depth = 0;  // decode: tokens in each sequence's cache before the first timed one (0: the one token it needs)

  const char* kind_name() const;  // "prefill", "decode", "mixed"
  std::string name() const;       // "prefill:512", "decode:8:2048" (batch, depth), "mixed:8:512": what --row takes
};

// Failure: kInvalidArgument.
Result<BenchRow> ParseRow(std::string_view name);

std::vector<BenchRow> QuickRows();
// context: of the model. The deepest row is near it, but not deeper than 8,192.
std::vector<BenchRow> FullRows(uint32_t context);

}  // namespace samebit::cli
