// How one row of `samebit bench` is measured: the engine is driven directly, and only the steps of interest are timed.
// Each row ends in a digest of its answers, so that a faster row that computes something else is seen.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench_rows.h"
#include "engine/engine.h"
#include "world/clock.h"

namespace samebit::cli {

using PhaseSeconds = std::array<double, engine::kPhaseCount>;

// Seconds of the same work with the law's order of sums and with whatever order is fastest: of each pair of engines,
// what a piece (a decode step, a prompt) took by the median. The two take turns at pieces, since a shared machine
// changes its speed from second to second; and each pair is made anew, either first in turn, since an engine's memory
// may lie well or badly for as long as it lives.
struct OrderFigures {
  std::vector<double> fixed, free;
};

struct BenchFigures {
  std::vector<double> seconds;      // of each repeat
  OrderFigures orders;              // empty where that was not asked for
  uint64_t tokens = 0;              // timed tokens of one repeat, all sequences together
  uint64_t steps = 0;               // forward passes of one repeat
  uint64_t tokens_beside = 0;       // mixed: made by the decoding sequences meanwhile, in one repeat
  double cpu_share = 0;             // process CPU time over threads x wall time, timed part: 1 on an idle machine
  std::string digest;               // over the answers of all sequences
  PhaseSeconds phase_seconds = {};  // of one more repeat, watched; its own time is not among `seconds`

  double seconds_best() const;
  double seconds_median() const;
};

struct BenchSettings {
  std::shared_ptr<const engine::Weights> weights;
  engine::EngineOptions options;  // cache_bytes and the prefix cache are set by the row
  uint32_t repeats = 3;
};

// Bytes of KV cache that a row needs.
uint64_t CacheBytes(const BenchRow& row, const BenchSettings& settings);

// Failures: those of the engine; kContextOverflow where the row does not fit the model; kCancelled after a Ctrl-C.
Result<BenchFigures> MeasureRow(const BenchRow& row, const BenchSettings& settings, const world::Clock& clock);

// Both orders, `repeats` pairs of engines. Failures: as above.
Result<OrderFigures> MeasureOrders(const BenchRow& row, const BenchSettings& settings, const world::Clock& clock);

}  // namespace samebit::cli
