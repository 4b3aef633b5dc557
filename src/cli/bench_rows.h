// The rows of `samebit bench` and how one is measured: the engine is driven directly, and only the steps of interest
// are timed. Each row ends in a digest of its answer, so that a faster row that computes something else is seen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "world/clock.h"

namespace samebit::cli {

enum class BenchKind { kPrefill, kDecode };

struct BenchRow {
  BenchKind kind = BenchKind::kPrefill;
  uint32_t tokens = 0;  // prefill: of the prompt; decode: timed tokens of each sequence
  uint32_t batch = 1;   // sequences
  uint32_t depth = 0;  // decode: tokens in each sequence's cache before the first timed one (0: the one token it needs)

  std::string name() const;  // "prefill:512", "decode:8:2048" (batch, depth): also what --row takes
};

struct BenchFigures {
  std::vector<double> seconds;  // of each repeat
  uint64_t tokens = 0;          // timed tokens of one repeat, all sequences together
  uint64_t steps = 0;           // forward passes of one repeat
  double cpu_share = 0;         // process CPU time over threads x wall time, timed part: 1 on an idle machine
  std::string digest;           // over the answers of all sequences

  double seconds_best() const;
  double seconds_median() const;
};

std::vector<BenchRow> QuickRows();
std::vector<BenchRow> FullRows();
// "prefill:TOKENS" or "decode:BATCH:DEPTH" or "decode:BATCH:DEPTH:TOKENS". Failure: kInvalidArgument.
Result<BenchRow> ParseRow(std::string_view name);

struct BenchSettings {
  std::shared_ptr<const engine::Weights> weights;
  engine::EngineOptions options;  // cache_bytes and the prefix cache are set by the row
  uint32_t repeats = 3;
};

// Bytes of KV cache that a row needs.
uint64_t CacheBytes(const BenchRow& row, const BenchSettings& settings);

// Failures: those of the engine; kContextOverflow where the row does not fit the model; kCancelled after a Ctrl-C.
Result<BenchFigures> MeasureRow(const BenchRow& row, const BenchSettings& settings, const world::Clock& clock);

}  // namespace samebit::cli
