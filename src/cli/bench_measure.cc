#include "cli/bench_measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "cli/interrupt.h"
#include "cli/statistics.h"

namespace samebit::cli {
namespace {

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

// Adds up the time of each phase.
class PhaseClock final : public engine::PhaseObserver {
 public:
  PhaseClock(const world::Clock& clock, PhaseSeconds* seconds) : clock_(clock), seconds_(*seconds) {}
  void Begin(engine::Phase phase) override {
    const uint64_t now_ns = clock_.monotonic_ns();
    if (phase_ != engine::Phase::kOutside)
      seconds_[static_cast<size_t>(phase_)] += static_cast<double>(now_ns - since_ns_) * 1e-9;
    phase_ = phase;
    since_ns_ = now_ns;
  }

 private:
  const world::Clock& clock_;
  PhaseSeconds& seconds_;
  engine::Phase phase_ = engine::Phase::kOutside;
  uint64_t since_ns_ = 0;
};

const Error kInterrupted = {ErrorCode::kCancelled, "interrupted: the bench was not finished"};

// Sequences on an engine.
class Batch {
 public:
  Batch(engine::Engine& engine, uint32_t vocabulary) : engine_(engine), vocabulary_(vocabulary) {}

  Status Submit(uint32_t prompt_number, uint32_t prompt_tokens, uint32_t answer_tokens) {
    engine::Request request;
    request.prompt = PromptOf(prompt_number, prompt_tokens, vocabulary_);
    request.tokens_max = answer_tokens;
    const size_t place = made_.size();
    made_.push_back(0);
    ASSIGN_OR_RETURN(const engine::RequestId id,
                     engine_.Submit(std::move(request), [this, place](uint32_t, const engine::TokenRecord&,
                                                                      std::string_view) { ++made_[place]; }));
    ids_.push_back(id);
    return {};
  }

  // Steps until every sequence has made a token.
  Status StepUntilAllStarted() {
    while (std::find(made_.begin(), made_.end(), 0u) != made_.end()) {
      if (Interrupted()) return kInterrupted;
      if (!engine_.Step()) break;
    }
    return {};
  }

  uint64_t made() const {
    uint64_t sum = 0;
    for (const uint32_t tokens : made_) sum += tokens;
    return sum;
  }

  // Lets every sequence finish; SHA-256 over their answers' digests, in order.
  Result<std::string> Digest() {
    while (engine_.Step()) {
      if (Interrupted()) return kInterrupted;
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
  uint32_t vocabulary_;
  std::vector<engine::RequestId> ids_;
  std::vector<uint32_t> made_;
};

uint32_t PromptTokens(const BenchRow& row) {
  switch (row.kind) {
    case BenchKind::kPrefill:
      return row.tokens;
    case BenchKind::kDecode:
      return std::max(row.depth, 1u);
    case BenchKind::kMixed:
      return 1;  // of the sequences that decode
  }
  return 1;
}

// Steps in which a prompt is read while others decode, at most: each reads what is left for prompts in such a step (of
// all its rows at least half), or the rest of the prompt.
uint32_t StepsToRead(uint32_t tokens, const engine::EngineOptions& options) {
  const uint32_t half = std::max(1u, std::min(options.prefill_chunk, options.step_rows_max) / 2);
  const uint32_t rows = std::min(half, options.prefill_beside_decodes);
  return tokens / rows + 2;
}

// Repeats of a row: the timed ones, and the one that is watched.
uint32_t Repeats(const BenchSettings& settings) { return settings.repeats + 1; }

uint32_t AnswerTokens(const BenchRow& row, const BenchSettings& settings) {
  // Sequences that were read first answer while the others are still being read.
  const uint32_t waiting = row.batch * StepsToRead(PromptTokens(row), settings.options);
  switch (row.kind) {
    case BenchKind::kPrefill:
      return 1;
    case BenchKind::kDecode:
      // Repeats at a depth go on with the same sequences; at depth 0 each starts anew.
      return 1 + row.tokens * (row.depth == 0 ? 1 : Repeats(settings)) + waiting;
    case BenchKind::kMixed:
      return 1 + waiting + (Repeats(settings) + 1) * StepsToRead(row.tokens, settings.options);
  }
  return 1;
}

// What the kinds of rows share: repeats that are timed, then one that is watched.
class Measurement {
 public:
  Measurement(const BenchRow& row, engine::Engine& engine, const BenchSettings& settings, const world::Clock& clock)
      : row_(row),
        engine_(engine),
        settings_(settings),
        phases_(clock, &figures_.phase_seconds),
        watch_(clock, settings.options.threads) {
    figures_.tokens = uint64_t{row.tokens} * (row.kind == BenchKind::kMixed ? 1 : row.batch);
  }

  Result<BenchFigures> Run() {
    Status status;
    if (row_.kind == BenchKind::kPrefill) status = Prefill();
    if (row_.kind == BenchKind::kDecode) status = row_.depth == 0 ? DecodeAnew() : DecodeOn();
    if (row_.kind == BenchKind::kMixed) status = Mixed();
    RETURN_IF_ERROR(status);
    figures_.cpu_share = watch_.cpu_share();
    return std::move(figures_);
  }

  // For the comparison of orders: everything before the first piece.
  Status Prepare() {
    streams_ = std::make_unique<Batch>(engine_, vocabulary());
    if (row_.kind != BenchKind::kPrefill) RETURN_IF_ERROR(Start(*streams_));
    const auto warm = OnePiece();
    if (!warm.ok()) return warm.error();
    return {};
  }

  // Seconds of one decode step, or of one prompt until its first token.
  Result<double> OnePiece() {
    watch_.Start();
    if (row_.kind == BenchKind::kDecode) {
      if (!engine_.Step()) return Ended();
    } else {
      pieces_.push_back(std::make_unique<Batch>(engine_, vocabulary()));
      RETURN_IF_ERROR(Arrive(*pieces_.back()));
    }
    return watch_.Stop();
  }

 private:
  Error Ended() const {
    return Error{ErrorCode::kInternal, row_.name() + ": the sequences ended before the timed steps did"};
  }
  uint32_t vocabulary() const { return settings_.weights->config.vocabulary; }
  bool watched(uint32_t repeat) const { return repeat == settings_.repeats; }

  // Times `work`, or watches its phases.
  template <class Work>
  Status Repeat(uint32_t repeat, Work work) {
    if (watched(repeat)) {
      engine_.Observe(&phases_);
      const Status status = work();
      engine_.Observe(nullptr);
      return status;
    }
    const uint64_t steps_before = engine_.counters().steps;
    watch_.Start();
    RETURN_IF_ERROR(work());
    figures_.seconds.push_back(watch_.Stop());
    figures_.steps = engine_.counters().steps - steps_before;
    return {};
  }

  Status Prefill() {
    {
      Batch warm(engine_, vocabulary());  // caches and threads
      RETURN_IF_ERROR(warm.Submit(0, row_.tokens, 1));
      RETURN_IF_ERROR(warm.Digest());
    }
    for (uint32_t repeat = 0; repeat < Repeats(settings_); ++repeat) {
      Batch batch(engine_, vocabulary());
      RETURN_IF_ERROR(Repeat(repeat, [&]() -> Status {
        RETURN_IF_ERROR(batch.Submit(0, row_.tokens, 1));
        return batch.StepUntilAllStarted();
      }));
      ASSIGN_OR_RETURN(figures_.digest, batch.Digest());
    }
    return {};
  }

  Status Start(Batch& batch) {
    for (uint32_t i = 0; i < row_.batch; ++i)
      RETURN_IF_ERROR(batch.Submit(i, PromptTokens(row_), AnswerTokens(row_, settings_)));
    return batch.StepUntilAllStarted();
  }

  Status DecodeSteps() {
    for (uint32_t step = 0; step < row_.tokens; ++step) {
      if (!engine_.Step()) return Ended();
    }
    if (Interrupted()) return kInterrupted;
    return {};
  }

  Status DecodeAnew() {
    for (uint32_t repeat = 0; repeat < Repeats(settings_); ++repeat) {
      Batch batch(engine_, vocabulary());
      RETURN_IF_ERROR(Start(batch));
      RETURN_IF_ERROR(Repeat(repeat, [&] { return DecodeSteps(); }));
      ASSIGN_OR_RETURN(figures_.digest, batch.Digest());
    }
    return {};
  }

  Status DecodeOn() {
    Batch batch(engine_, vocabulary());
    RETURN_IF_ERROR(Start(batch));
    for (uint32_t repeat = 0; repeat < Repeats(settings_); ++repeat)
      RETURN_IF_ERROR(Repeat(repeat, [&] { return DecodeSteps(); }));
    ASSIGN_OR_RETURN(figures_.digest, batch.Digest());
    return {};
  }

  // A prompt that differs from the decoding ones arrives; it is over with its first token.
  Status Arrive(Batch& arrival) {
    RETURN_IF_ERROR(arrival.Submit(row_.batch, row_.tokens, 1));
    return arrival.StepUntilAllStarted();
  }

  Status Mixed() {
    Batch streams(engine_, vocabulary());
    RETURN_IF_ERROR(Start(streams));
    std::vector<std::unique_ptr<Batch>> arrivals;
    const auto arrive = [&] {
      arrivals.push_back(std::make_unique<Batch>(engine_, vocabulary()));
      return Arrive(*arrivals.back());
    };
    RETURN_IF_ERROR(arrive());
    for (uint32_t repeat = 0; repeat < Repeats(settings_); ++repeat) {
      const uint64_t made_before = streams.made();
      RETURN_IF_ERROR(Repeat(repeat, arrive));
      if (!watched(repeat)) figures_.tokens_beside = streams.made() - made_before;
    }
    Sha256 digest;
    ASSIGN_OR_RETURN(const std::string of_streams, streams.Digest());
    digest.Update(of_streams);
    for (const auto& arrival : arrivals) {
      ASSIGN_OR_RETURN(const std::string of_arrival, arrival->Digest());
      digest.Update(of_arrival);
    }
    figures_.digest = digest.Finish().hex();
    return {};
  }

  const BenchRow& row_;
  engine::Engine& engine_;
  const BenchSettings& settings_;
  BenchFigures figures_;
  PhaseClock phases_;
  Stopwatch watch_;
  std::unique_ptr<Batch> streams_;              // of Prepare
  std::vector<std::unique_ptr<Batch>> pieces_;  // of OnePiece
};

}  // namespace

double BenchFigures::seconds_best() const { return Best(seconds); }
double BenchFigures::seconds_median() const { return Median(seconds); }

uint64_t CacheBytes(const BenchRow& row, const BenchSettings& settings) {
  const model::ModelConfig& config = settings.weights->config;
  const uint64_t token_bytes = uint64_t{2} * config.layers * config.kv_heads * config.head_size *
                               kernels::CacheElementBytes(settings.options.cache_type);
  const uint64_t page = settings.options.page_tokens;
  const auto pages = [&](uint64_t tokens) { return (tokens + page - 1) / page + 1; };
  uint64_t needed = row.batch * pages(uint64_t{PromptTokens(row)} + AnswerTokens(row, settings));
  // One page of slack for each that runs: the scheduler admits no newcomer without.
  if (row.kind == BenchKind::kMixed) needed += pages(row.tokens + 1) + row.batch + 1;
  return token_bytes * needed * page;
}

namespace {

Result<std::unique_ptr<engine::Engine>> MakeEngine(const BenchRow& row, const BenchSettings& settings,
                                                   engine::Reduction reduction) {
  engine::EngineOptions options = settings.options;
  options.prefix_cache = false;
  options.cache_bytes = CacheBytes(row, settings);
  options.sequences_max = std::max(options.sequences_max, row.batch + 1);
  options.reduction = reduction;
  // No tokenizer: text is not part of what is timed.
  return engine::Engine::Make(settings.weights, nullptr, options);
}

}  // namespace

Result<BenchFigures> MeasureRow(const BenchRow& row, const BenchSettings& settings, const world::Clock& clock) {
  ASSIGN_OR_RETURN(const auto engine, MakeEngine(row, settings, engine::Reduction::kLaw));
  return Measurement(row, *engine, settings, clock).Run();
}

namespace {

// An engine of one order, and the seconds of its pieces.
struct Arm {
  engine::Reduction reduction;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<Measurement> measurement;
  std::vector<double> seconds;
};

Result<Arm> MakeArm(engine::Reduction reduction, const BenchRow& row, const BenchSettings& settings,
                    const world::Clock& clock) {
  Arm arm = {.reduction = reduction, .engine = {}, .measurement = {}, .seconds = {}};
  ASSIGN_OR_RETURN(arm.engine, MakeEngine(row, settings, reduction));
  arm.measurement = std::make_unique<Measurement>(row, *arm.engine, settings, clock);
  RETURN_IF_ERROR(arm.measurement->Prepare());
  return arm;
}

}  // namespace

Result<OrderFigures> MeasureOrders(const BenchRow& row, const BenchSettings& settings, const world::Clock& clock) {
  const BenchSettings once = {settings.weights, settings.options, 1};
  const uint32_t pieces = row.kind == BenchKind::kDecode ? std::max(row.tokens, 2u) - 1 : 1;
  engine::Reduction orders[2] = {engine::Reduction::kLaw, engine::Reduction::kFree};
  OrderFigures figures;
  for (uint32_t pair = 0; pair < settings.repeats; ++pair) {
    std::vector<Arm> arms;
    for (const engine::Reduction order : orders) {
      ASSIGN_OR_RETURN(Arm arm, MakeArm(order, row, once, clock));
      arms.push_back(std::move(arm));
    }
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      for (Arm& arm : arms) {
        ASSIGN_OR_RETURN(const double seconds, arm.measurement->OnePiece());
        arm.seconds.push_back(seconds);
      }
      std::swap(arms[0], arms[1]);
      if (Interrupted()) return kInterrupted;
    }
    for (const Arm& arm : arms)
      (arm.reduction == engine::Reduction::kLaw ? figures.fixed : figures.free).push_back(Median(arm.seconds));
    std::swap(orders[0], orders[1]);
  }
  return figures;
}

}  // namespace samebit::cli
