#include "cli/bench_rows.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/digest.h"
#include "cli/interrupt.h"
#include "cli/number_text.h"
#include "model/describe.h"

namespace samebit::cli {
namespace {

// Long enough that a clock tick does not matter, short enough that the depth stays what the row says.
constexpr uint32_t kDecodeTokens = 64;
constexpr uint32_t kDecodeTokensQuick = 32;

// Fixed ids that differ between sequences, so that no two prompts share a prefix. 7919 and 104729 are primes: the walk
// visits the vocabulary without repeating itself for as long as any row is.
std::vector<TokenId> PromptOf(uint32_t sequence, uint32_t tokens, uint32_t vocabulary) {
  std::vector<TokenId> ids(tokens);
  for (uint32_t i = 0; i < tokens; ++i) {
    ids[i] = static_cast<TokenId>((uint64_t{i} * 7919 + uint64_t{sequence} * 104729 + 17) % vocabulary);
  }
  return ids;
}

uint64_t ProcessCpuNs() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// Wall and CPU time of the timed parts of a row.
class Stopwatch {
 public:
  Stopwatch(const world::Clock& clock, uint32_t threads) : clock_(clock), threads_(threads) {}
  void Start() {
    cpu_start_ns_ = ProcessCpuNs();
    wall_start_ns_ = clock_.monotonic_ns();
  }
  double Stop() {
    const uint64_t wall_ns = clock_.monotonic_ns() - wall_start_ns_;
    cpu_ns_ += ProcessCpuNs() - cpu_start_ns_;
    wall_ns_ += wall_ns;
    return static_cast<double>(wall_ns) * 1e-9;
  }
  double cpu_share() const {
    return wall_ns_ == 0 ? 0 : static_cast<double>(cpu_ns_) / (static_cast<double>(wall_ns_) * threads_);
  }

 private:
  const world::Clock& clock_;
  uint32_t threads_;
  uint64_t cpu_start_ns_ = 0, wall_start_ns_ = 0, cpu_ns_ = 0, wall_ns_ = 0;
};

// The sequences of one repeat on an engine.
class Batch {
 public:
  Batch(engine::Engine& engine, const BenchRow& row, uint32_t vocabulary)
      : engine_(engine), row_(row), vocabulary_(vocabulary) {}

  Status Submit(uint32_t prompt_tokens, uint32_t answer_tokens) {
    made_.assign(row_.batch, 0);
    for (uint32_t i = 0; i < row_.batch; ++i) {
      engine::Request request;
      request.prompt = PromptOf(i, prompt_tokens, vocabulary_);
      request.tokens_max = answer_tokens;
      ASSIGN_OR_RETURN(const engine::RequestId id,
                       engine_.Submit(std::move(request), [this, i](uint32_t, const engine::TokenRecord&,
                                                                    std::string_view) { ++made_[i]; }));
      ids_.push_back(id);
    }
    return {};
  }

  // Steps until every sequence has made `tokens` tokens.
  Status StepUntil(uint32_t tokens) {
    while (*std::min_element(made_.begin(), made_.end()) < tokens) {
      if (Interrupted()) return Error{ErrorCode::kCancelled, "interrupted: the bench was not finished"};
      if (!engine_.Step()) break;
    }
    return {};
  }

  // Lets every sequence finish; SHA-256 over their answers' digests, in order.
  Result<std::string> Digest() {
    while (engine_.Step()) {
      if (Interrupted()) return Error{ErrorCode::kCancelled, "interrupted: the bench was not finished"};
    }
    Sha256 digest;
    for (const engine::RequestId id : ids_) {
      auto answer = engine_.Take(id);
      CHECK(answer.has_value());
      if (!answer->ok()) return answer->error();
      digest.Update(engine::AnswerDigest(answer->value()).hex());
    }
    return digest.Finish().hex();
  }

 private:
  engine::Engine& engine_;
  const BenchRow& row_;
  uint32_t vocabulary_;
  std::vector<engine::RequestId> ids_;
  std::vector<uint32_t> made_;
};

uint32_t PromptTokens(const BenchRow& row) {
  return row.kind == BenchKind::kPrefill ? row.tokens : std::max(row.depth, 1u);
}

// Sequences that were read first answer while the others are still being read; each step of that reads at least one
// chunk, or the rest of one prompt.
uint32_t WaitingTokens(const BenchRow& row, const engine::EngineOptions& options) {
  const uint32_t rows = std::max(1u, std::min(options.prefill_chunk, options.step_rows_max) / 2);
  return row.batch * (PromptTokens(row) / rows + 2);
}

uint32_t AnswerTokens(const BenchRow& row, const BenchSettings& settings) {
  if (row.kind == BenchKind::kPrefill) return 1;
  // Repeats at a depth go on with the same sequences; at depth 0 each starts anew.
  const uint32_t timed = row.depth == 0 ? row.tokens : row.tokens * settings.repeats;
  return 1 + timed + WaitingTokens(row, settings.options);
}

Result<BenchFigures> MeasurePrefill(const BenchRow& row, engine::Engine& engine, const BenchSettings& settings,
                                    const world::Clock& clock) {
  BenchFigures figures;
  figures.tokens = uint64_t{row.tokens} * row.batch;
  Stopwatch watch(clock, settings.options.threads);
  for (uint32_t repeat = 0; repeat <= settings.repeats; ++repeat) {
    Batch batch(engine, row, settings.weights->config.vocabulary);
    const uint64_t steps_before = engine.counters().steps;
    watch.Start();
    RETURN_IF_ERROR(batch.Submit(row.tokens, 1));
    RETURN_IF_ERROR(batch.StepUntil(1));
    const double seconds = watch.Stop();
    figures.steps = engine.counters().steps - steps_before;
    ASSIGN_OR_RETURN(figures.digest, batch.Digest());
    if (repeat > 0) figures.seconds.push_back(seconds);  // the first warms caches and threads
  }
  figures.cpu_share = watch.cpu_share();
  return figures;
}

Result<BenchFigures> MeasureDecode(const BenchRow& row, engine::Engine& engine, const BenchSettings& settings,
                                   const world::Clock& clock) {
  BenchFigures figures;
  figures.tokens = uint64_t{row.tokens} * row.batch;
  Stopwatch watch(clock, settings.options.threads);
  const uint32_t rounds = row.depth == 0 ? settings.repeats : 1;
  const uint32_t repeats_per_round = row.depth == 0 ? 1 : settings.repeats;
  for (uint32_t round = 0; round < rounds; ++round) {
    Batch batch(engine, row, settings.weights->config.vocabulary);
    RETURN_IF_ERROR(batch.Submit(PromptTokens(row), AnswerTokens(row, settings)));
    RETURN_IF_ERROR(batch.StepUntil(1));
    for (uint32_t repeat = 0; repeat < repeats_per_round; ++repeat) {
      const uint64_t steps_before = engine.counters().steps;
      watch.Start();
      for (uint32_t step = 0; step < row.tokens; ++step) {
        if (!engine.Step())
          return Error{ErrorCode::kInternal, row.name() + ": the sequences ended before the timed steps did"};
      }
      figures.seconds.push_back(watch.Stop());
      figures.steps = engine.counters().steps - steps_before;
      if (Interrupted()) return Error{ErrorCode::kCancelled, "interrupted: the bench was not finished"};
    }
    ASSIGN_OR_RETURN(figures.digest, batch.Digest());
  }
  figures.cpu_share = watch.cpu_share();
  return figures;
}

}  // namespace

std::string BenchRow::name() const {
  if (kind == BenchKind::kPrefill) return "prefill:" + std::to_string(tokens);
  return "decode:" + std::to_string(batch) + ":" + std::to_string(depth);
}

double BenchFigures::seconds_best() const { return *std::min_element(seconds.begin(), seconds.end()); }

double BenchFigures::seconds_median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<BenchRow> QuickRows() {
  return {{BenchKind::kPrefill, 128},
          {BenchKind::kPrefill, 512},
          {BenchKind::kDecode, kDecodeTokensQuick, 1, 0},
          {BenchKind::kDecode, kDecodeTokensQuick, 8, 0},
          {BenchKind::kDecode, kDecodeTokensQuick, 32, 0},
          {BenchKind::kDecode, kDecodeTokensQuick, 1, 2048}};
}

std::vector<BenchRow> FullRows() {
  std::vector<BenchRow> rows;
  for (const uint32_t tokens : {128u, 512u, 2048u}) rows.push_back({BenchKind::kPrefill, tokens});
  for (const uint32_t depth : {0u, 2048u}) {
    for (const uint32_t batch : {1u, 8u, 32u}) rows.push_back({BenchKind::kDecode, kDecodeTokens, batch, depth});
  }
  return rows;
}

Result<BenchRow> ParseRow(std::string_view name) {
  const Error refusal = {ErrorCode::kInvalidArgument,
                         "expected prefill:TOKENS or decode:BATCH:DEPTH[:TOKENS], found " + model::Printable(name)};
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= name.size();) {
    const size_t colon = std::min(name.find(':', at), name.size());
    parts.push_back(name.substr(at, colon - at));
    at = colon + 1;
  }
  std::vector<uint32_t> numbers;
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto number = ParseWhole(parts[i], 0, 1 << 20);
    if (!number.ok()) return refusal;
    numbers.push_back(static_cast<uint32_t>(number.value()));
  }
  if (parts[0] == "prefill" && numbers.size() == 1 && numbers[0] > 0)
    return BenchRow{BenchKind::kPrefill, numbers[0], 1, 0};
  if (parts[0] == "decode" && (numbers.size() == 2 || numbers.size() == 3) && numbers[0] > 0 && numbers[0] <= 256) {
    const uint32_t tokens = numbers.size() == 3 ? numbers[2] : kDecodeTokens;
    if (tokens > 0) return BenchRow{BenchKind::kDecode, tokens, numbers[0], numbers[1]};
  }
  return refusal;
}

uint64_t CacheBytes(const BenchRow& row, const BenchSettings& settings) {
  const model::ModelConfig& config = settings.weights->config;
  const uint64_t token_bytes = uint64_t{2} * config.layers * config.kv_heads * config.head_size *
                               kernels::CacheElementBytes(settings.options.cache_type);
  const uint64_t page = settings.options.page_tokens;
  const uint64_t tokens = uint64_t{PromptTokens(row)} + AnswerTokens(row, settings);
  return token_bytes * row.batch * ((tokens + page - 1) / page + 1) * page;
}

Result<BenchFigures> MeasureRow(const BenchRow& row, const BenchSettings& settings, const world::Clock& clock) {
  engine::EngineOptions options = settings.options;
  options.prefix_cache = false;
  options.cache_bytes = CacheBytes(row, settings);
  options.sequences_max = std::max(options.sequences_max, row.batch);
  // No tokenizer: text is not part of what is timed.
  ASSIGN_OR_RETURN(const auto engine, engine::Engine::Make(settings.weights, nullptr, options));
  return row.kind == BenchKind::kPrefill ? MeasurePrefill(row, *engine, settings, clock)
                                         : MeasureDecode(row, *engine, settings, clock);
}

}  // namespace samebit::cli
