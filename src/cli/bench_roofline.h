// The roof over `samebit bench`: what this machine can read, add and multiply with the threads and the instruction set
// in use, and the least time that a row's work could take under it.
#pragma once

#include <cstdint>

#include "cli/bench_rows.h"
#include "engine/options.h"
#include "engine/weights.h"
#include "world/clock.h"

namespace samebit::cli {

// All threads together.
struct MachineRoof {
  double bytes_per_second = 0;     // the packed weights, in order
  double fma_per_second = 0;       // binary32 operations of fma (2 each), in registers
  double byte_dot_per_second = 0;  // operations of the byte dot product (2 per product), in registers
  double barrier_seconds = 0;      // for all threads to meet once, when they come at the same time
};

// Takes about a second; best of several, on threads of its own.
MachineRoof MeasureRoof(const engine::Weights& weights, const engine::EngineOptions& options,
                        const world::Clock& clock);

// The better of each: the machine was disturbed while the other was measured.
MachineRoof Better(const MachineRoof& a, const MachineRoof& b);

// What one repeat of a row must do at least.
struct RowWork {
  double bytes = 0;             // packed weights once per step, keys and values once per step and sequence
  double float_operations = 0;  // of float matrices and attention
  double byte_operations = 0;   // of quantized matrices
};
RowWork WorkOf(const BenchRow& row, const engine::Weights& weights, const engine::EngineOptions& options);

// Seconds below which the work cannot be done: the longer of reading and computing.
double SecondsAtRoof(const RowWork& work, const MachineRoof& roof);

}  // namespace samebit::cli
