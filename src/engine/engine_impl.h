// The engine behind engine.h. Engine-internal.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "engine/forward/decoder.h"
#include "engine/request_state.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"

namespace samebit::engine {

class EngineImpl final : public Engine {
 public:
  EngineImpl(std::shared_ptr<const Weights> weights, const text::Tokenizer* tokenizer, const EngineOptions& options);

  Result<RequestId> Submit(Request request, TokenSink sink) override;
  void Cancel(RequestId id) override;
  bool Step() override;
  std::optional<Result<Completion>> Take(RequestId id) override;
  const EngineOptions& options() const override { return options_; }
  const EngineCounters& counters() const override { return counters_; }
  uint32_t context_max() const override { return context_max_; }
  uint64_t cache_bytes_used_max() const override { return uint64_t{cache_.used_pages_max()} * cache_.page_bytes(); }
  void Observe(PhaseObserver* observer) override {
    observer_ = observer;
    decoder_.Observe(observer);
  }
  void DropPrefixCache() override { cache_.DropIndex(); }

 private:
  // What one row of logits is for.
  struct LogitTarget {
    Sequence* sequence = nullptr;
    uint32_t batch_row = 0;
    bool scores_prompt = false;  // the row's next token is the prompt's own
    Position position = 0;       // of the row
  };
  // What a worker found out about it.
  struct LogitOutcome {
    std::vector<TokenRecord>
        records;  // one per sample that samples here; one for a scored prompt token; beams: candidates
    bool finite = true;
    std::optional<Error> grammar_error;  // no token could be chosen
  };

  std::unique_ptr<Sequence> MakeSequence(RequestState& state, uint32_t sample) const;
  Batch MakeBatch(const std::vector<Scheduler::Item>& items);
  void Trace(const std::vector<Scheduler::Item>& items);
  LogitOutcome Look(const LogitTarget& target, const float* logits, SamplerScratch& scratch) const;
  void Integrate(const std::vector<Scheduler::Item>& items, const Batch& batch);
  void SampledFirst(RequestState& state, Sequence& leader, std::vector<TokenRecord> records);
  void Append(RequestState& state, Sequence& sequence, TokenRecord record);
  void EndAnswer(RequestState& state, Sequence* sequence, Answer& answer, FinishReason reason);
  void StepBeams(RequestState& state);
  void EndBeams(RequestState& state, FinishReason cut_off);
  void Fail(RequestState& state, Error error);
  void DropSequences(RequestState& state);
  void DropCancelled();

  std::shared_ptr<const Weights> weights_;
  const text::Tokenizer* tokenizer_;
  EngineOptions options_;
  uint32_t context_max_;
  KvCache cache_;
  Scheduler scheduler_;
  Decoder decoder_;
  kernels::Team team_;
  std::vector<SamplerScratch> scratch_;  // [kLogitRowsMax]: rows that are looked at at once
  std::map<RequestId, std::unique_ptr<RequestState>> requests_;
  std::vector<LogitTarget> targets_;
  std::vector<LogitOutcome> outcomes_;
  EngineCounters counters_;
  RequestId next_id_ = 1;
  PhaseObserver* observer_ = nullptr;
};

}  // namespace samebit::engine
