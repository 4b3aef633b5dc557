#include "cli/bench_roofline.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/team.h"

namespace samebit::cli {
namespace {

constexpr int kTries = 5;
constexpr uint32_t kPeakRounds = 1u << 20;
constexpr uint32_t kBarriers = 20'000;  // some ms
constexpr int kPeakCalls = 16;  // together some 50 ms: the system needs a few to give each thread a core of its own

// The best rate of `work`, which every thread runs at once and which returns what it did.
double BestRate(uint32_t threads, const world::Clock& clock, const std::function<double(kernels::Worker& worker)>& work) {
  kernels::Team team(threads);
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<double> rates(threads);
    team.Run([&](kernels::Worker& worker) {
      worker.Barrier();
      const uint64_t start_ns = clock.monotonic_ns();
      const double done = work(worker);
      rates[worker.index()] = done / (static_cast<double>(clock.monotonic_ns() - start_ns) * 1e-9);
    });
    double sum = 0;
    for (const double rate : rates) sum += rate;
    best = std::max(best, sum);
  }
  return best;
}

double BarrierSeconds(uint32_t threads, const world::Clock& clock) {
  return 1 / (BestRate(threads, clock, [](kernels::Worker& worker) {
                for (uint32_t i = 0; i < kBarriers; ++i) worker.Barrier();
                return double{kBarriers};
              }) /
              threads);
}

std::array<const engine::LinearWeights*, 7> MatricesOf(const engine::LayerWeights& layer) {
  return {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.gate, &layer.up, &layer.down};
}

// Reads what a step reads, the packed weights, each worker its share: no memory of its own, and a model that fits a
// cache gets that cache's rate.
double ReadRate(uint32_t threads, const world::Clock& clock, const engine::Weights& weights) {
  std::vector<const kernels::PackedMatrix*> matrices = {&weights.head().matrix};
  for (const engine::LayerWeights& layer : weights.layers)
    for (const engine::LinearWeights* one : MatricesOf(layer)) matrices.push_back(&one->matrix);
  std::atomic<uint64_t> sink{0};
  return BestRate(threads, clock, [&](const kernels::Worker& worker) {
    uint64_t sums[8] = {};
    double bytes = 0;
    for (const kernels::PackedMatrix* matrix : matrices) {
      const kernels::Range panels = worker.Part(matrix->panels());
      const auto* words = reinterpret_cast<const uint64_t*>(matrix->panel(panels.begin));
      const size_t count = matrix->panel_bytes() * panels.size() / sizeof(uint64_t) / 8 * 8;
      for (size_t i = 0; i < count; i += 8)
        for (size_t lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
      bytes += static_cast<double>(count * sizeof(uint64_t));
    }
    for (const uint64_t sum : sums) sink += sum;
    return bytes;
  });
}

double OperationRate(uint32_t threads, const world::Clock& clock, float (*peak)(uint32_t, uint64_t*)) {
  std::atomic<float> sink{0};
  return BestRate(threads, clock, [&](const kernels::Worker&) {
    double sum = 0;
    for (int call = 0; call < kPeakCalls; ++call) {
      uint64_t operations = 0;
      sink = peak(kPeakRounds, &operations);
      sum += static_cast<double>(operations);
    }
    return sum;
  });
}

void AddMatrix(const engine::LinearWeights& weights, double rows, double steps, RowWork* work) {
  const kernels::PackedMatrix& matrix = weights.matrix;
  const double operations = 2.0 * matrix.rows() * matrix.columns() * rows;
  work->bytes += static_cast<double>(matrix.bytes()) * steps;
  (arith::Format(matrix.type()).quantized ? work->byte_operations : work->float_operations) += operations;
}

// One sequence's `rows` rows from `position` on, in one step.
void AddAttention(const engine::Weights& weights, const engine::EngineOptions& options, double position, double rows,
                  RowWork* work) {
  const model::ModelConfig& config = weights.config;
  for (const engine::LayerWeights& layer : weights.layers) {
    const double window = layer.local ? config.sliding_window : position + rows;
    const double keys_of_row = std::min(window, position + (rows + 1) / 2);
    const double keys_read = std::min(window + rows - 1, position + rows);
    work->float_operations += 4.0 * config.heads * config.head_size * keys_of_row * rows;
    work->bytes += 2.0 * config.kv_heads * config.head_size * keys_read *
                   static_cast<double>(kernels::CacheElementBytes(options.cache_type));
  }
}

}  // namespace

MachineRoof MeasureRoof(const engine::Weights& weights, const engine::EngineOptions& options,
                        const world::Clock& clock) {
  const kernels::KernelTable& table = kernels::Kernels(options.isa);
  return {ReadRate(options.threads, clock, weights), OperationRate(options.threads, clock, table.peak_fma),
          OperationRate(options.threads, clock, table.peak_dot), BarrierSeconds(options.threads, clock)};
}

MachineRoof Better(const MachineRoof& a, const MachineRoof& b) {
  return {std::max(a.bytes_per_second, b.bytes_per_second), std::max(a.fma_per_second, b.fma_per_second),
          std::max(a.byte_dot_per_second, b.byte_dot_per_second), std::min(a.barrier_seconds, b.barrier_seconds)};
}

RowWork WorkOf(const BenchRow& row, const engine::Weights& weights, const engine::EngineOptions& options) {
  const bool reads_prompt = row.kind != BenchKind::kDecode;
  const uint32_t beside = row.kind == BenchKind::kMixed ? row.batch : 0;  // sequences that decode in the same steps
  const uint32_t chunk = std::min({options.prefill_chunk, options.step_rows_max,
                                   beside > 0 ? options.prefill_beside_decodes : UINT32_MAX});
  const double steps = reads_prompt ? (row.tokens + chunk - 1) / chunk : row.tokens;
  const double prompt_rows = reads_prompt ? row.tokens : 0;
  const double decode_rows = reads_prompt ? beside * steps : double{steps} * row.batch;
  RowWork work;
  for (const engine::LayerWeights& layer : weights.layers)
    for (const engine::LinearWeights* one : MatricesOf(layer)) AddMatrix(*one, prompt_rows + decode_rows, steps, &work);
  AddMatrix(weights.head(), decode_rows + (reads_prompt ? 1 : 0), reads_prompt && beside == 0 ? 1 : steps, &work);
  for (uint32_t first = 0; first < prompt_rows; first += chunk)
    AddAttention(weights, options, first, std::min<double>(chunk, prompt_rows - first), &work);
  for (uint32_t step = 0; step < steps && decode_rows > 0; ++step) {
    RowWork one;
    AddAttention(weights, options, row.depth + step, 1, &one);
    const double sequences = decode_rows / steps;
    work.bytes += one.bytes * sequences;
    work.float_operations += one.float_operations * sequences;
  }
  return work;
}

double SecondsAtRoof(const RowWork& work, const MachineRoof& roof) {
  return std::max(work.bytes / roof.bytes_per_second,
                  work.float_operations / roof.fma_per_second + work.byte_operations / roof.byte_dot_per_second);
}

}  // namespace samebit::cli
