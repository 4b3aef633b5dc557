// The replay matrix: runs a set of prompts in every way a server could, and says per cell and per sample whether the
// bits are those of the base cell (one request alone, token by token).
//
// For: cli (`samebit replay`), later gate and qualification. Not for: timing, or judging quality.
// RunReplay uses the calling thread and the engine's own workers. It reads no clock of its own and prints nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "verify/axis.h"
#include "verify/child.h"
#include "verify/replay_report.h"
#include "world/clock.h"

namespace samebit::verify {

enum class PlanKind { kQuick, kFull };

struct ReplayOptions {
  std::string model_path;        // a .gguf file or a Hugging Face folder
  std::string prompts_path;      // JSONL (prompt_file.h); "": the built-in set
  PlanKind plan = PlanKind::kQuick;
  bool control = false;          // the order-dependent arm, which must be caught
  uint32_t threads = 0;          // of the base; 0: the cores this process may use
  std::optional<kernels::Isa> isa;  // of the base; absent: the best
  kernels::CacheType cache_type = kernels::CacheType::kF16;
  uint64_t cache_bytes = 1ull << 30;  // KV budget of every engine of the matrix
  uint64_t seed = 42;            // of the seeded samples
  std::vector<Axis> axes;        // only these; empty: all
  std::string version;           // of this program, for the report
};

// How far it is. Called from RunReplay's thread, at most once per engine step; must be quick.
struct ReplayProgress {
  std::string_view what;         // "base answers" or "concurrency 8"
  uint32_t cell_index = 0;       // 0: the base answers; then 1..cell_count
  uint32_t cell_count = 0;
  uint64_t tokens_done = 0;      // prompt and answer tokens asked for so far, over the whole matrix
  uint64_t tokens_total = 0;
  double seconds = 0;            // since RunReplay began
  bool cell_finished = false;    // then `verdict` is this cell's
  Verdict verdict = Verdict::kNotMeasured;
};

struct ReplayHooks {
  const world::Clock* clock = nullptr;                      // required
  std::function<void(const ReplayProgress&)> progress;      // may be null
  const std::atomic<bool>* cancelled = nullptr;             // may be null; checked between engine steps
  // May be null: then the cells of a restarted and a redeployed process are not measured.
  RestartRunner restart;
  WeightsLoader load_weights = PackAlways;
  // Makes another copy of the model (a file, or a folder) and returns its path; the caller removes it after
  // RunReplay. May be null: then the redeployed cell is not measured.
  std::function<Result<std::string>()> copy_model;
};

// Runs the whole matrix. A cell that cannot run is "not measured" in the report, not a failure of this function.
// Failures: those of model::Open, the tokenizer, PackWeights and the prompts file; kInvalidArgument (an option out of
// range); kContextOverflow (no prompt fits the model); kCancelled; an error of the engine in the base cell, on which
// everything else stands.
Result<ReplayReport> RunReplay(const ReplayOptions& options, const ReplayHooks& hooks);

}  // namespace samebit::verify
