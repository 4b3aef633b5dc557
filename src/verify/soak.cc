#include "verify/soak.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "arith/sampling.h"

namespace samebit::verify {

namespace {

// Numbers for the load: the same for the same seed on every machine.
class LoadNumbers {
 public:
  explicit LoadNumbers(uint64_t seed) : seed_(seed) {}
  uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(
        arith::DrawBelow(arith::RandomBits(seed_, 0, next_++, arith::RandomStream::kToken), bound));
  }

 private:
  uint64_t seed_;
  uint32_t next_ = 0;
};

engine::Request BaseRequest(const SoakOptions& options) {
  engine::Request request;
  request.prompt = options.prompt;
  request.tokens_max = options.tokens;
  request.logits_digests = true;
  return request;
}

Result<engine::Completion> MakeBase(const std::shared_ptr<const engine::Weights>& weights, const SoakOptions& options) {
  engine::EngineOptions alone = options.engine;
  alone.prefill_chunk = 1;
  alone.step_rows_max = 1;
  alone.sequences_max = 1;
  alone.prefix_cache = false;
  alone.preempt_every_steps = 0;
  ASSIGN_OR_RETURN(const auto engine, engine::Engine::Make(weights, nullptr, alone));
  return engine::Run(*engine, BaseRequest(options));
}

// Index of the first token that differs in id, log-probability bits or logits digest; tokens.size() where none does.
uint32_t FirstDifference(const engine::Choice& base, const engine::Choice& run) {
  const size_t count = std::min(base.tokens.size(), run.tokens.size());
  for (size_t i = 0; i < count; ++i) {
    const engine::TokenRecord &a = base.tokens[i], &b = run.tokens[i];
    if (a.id != b.id || std::memcmp(&a.logprob, &b.logprob, sizeof a.logprob) != 0 ||
        a.logits_digest != b.logits_digest)
      return static_cast<uint32_t>(i);
  }
  return static_cast<uint32_t>(count);
}

class Soak {
 public:
  Soak(const SoakOptions& options, engine::Engine& engine, const engine::Completion& base)
      : options_(options), engine_(engine), base_(base.choices[0]), numbers_(options.load_seed) {
    report_.answer_digest = engine::AnswerDigest(base).hex();
    report_.logits_digest = base_.logits_digest.hex();
    report_.tokens = options.tokens;
  }

  Result<SoakReport> Go(const std::function<void(uint32_t)>& progress, const std::atomic<bool>* cancelled) {
    while (report_.runs < options_.runs) {
      if (cancelled != nullptr && cancelled->load()) return Error{ErrorCode::kCancelled, "the soak was interrupted"};
      ChangeLoad();
      RETURN_IF_ERROR(FillUp());
      const uint64_t rows = engine_.counters().rows;
      if (!engine_.Step()) return Error{ErrorCode::kInternal, "the engine stopped with work left"};
      batch_sizes_.insert(engine_.counters().rows - rows);
      const uint32_t before = report_.runs;
      RETURN_IF_ERROR(Collect());
      if (progress && report_.runs != before) progress(report_.runs);
    }
    report_.distinct_answers = static_cast<uint32_t>(answers_.size());
    report_.batch_sizes = static_cast<uint32_t>(batch_sizes_.size());
    report_.steps = engine_.counters().steps;
    report_.rows = engine_.counters().rows;
    report_.sequences_in_step_max = engine_.counters().sequences_in_step_max;
    report_.preemptions = engine_.counters().preemptions;
    report_.cached_tokens = engine_.counters().cached_tokens;
    return report_;
  }

 private:
  // Every so often another number of requests is wanted: from one alone to as many as there may be.
  void ChangeLoad() {
    if (steps_until_change_-- > 0) return;
    steps_until_change_ = 20 + numbers_.Below(200);
    wanted_ = numbers_.Below(4) == 0 ? 1 : 1 + numbers_.Below(options_.in_flight_max);
    if (numbers_.Below(8) == 0) engine_.DropPrefixCache();
    if (!neighbours_.empty() && numbers_.Below(2) == 0) {
      engine_.Cancel(*neighbours_.begin());
      ++report_.neighbours_cancelled;
    }
  }

  Status FillUp() {
    // All wanted runs are in flight or done: the last ones end under a thinning load.
    while (runs_.size() + neighbours_.size() < wanted_ && submitted_ < options_.runs) {
      // One in five is a neighbour.
      if (!runs_.empty() && numbers_.Below(5) == 0) {
        ASSIGN_OR_RETURN(const engine::RequestId id, engine_.Submit(Neighbour()));
        neighbours_.insert(id);
        ++report_.neighbours;
      } else {
        ASSIGN_OR_RETURN(const engine::RequestId id, engine_.Submit(BaseRequest(options_)));
        runs_.emplace(id, submitted_++);
      }
    }
    return {};
  }

  engine::Request Neighbour() {
    engine::Request request;
    request.prompt =
        options_.neighbour_prompts[numbers_.Below(static_cast<uint32_t>(options_.neighbour_prompts.size()))];
    request.tokens_max = 1 + numbers_.Below(200);
    if (numbers_.Below(2) == 0) {
      request.sampling.temperature = 1.5f;
      request.sampling.top_p = 0.95f;
      request.sampling.seed = numbers_.Below(1u << 30);
      request.samples = 1 + numbers_.Below(3);
    }
    return request;
  }

  Status Collect() {
    for (auto entry = runs_.begin(); entry != runs_.end();) {
      auto completion = engine_.Take(entry->first);
      if (!completion) {
        ++entry;
        continue;
      }
      if (!completion->ok()) return completion->error();
      Compare(entry->second, **completion);
      entry = runs_.erase(entry);
    }
    std::erase_if(neighbours_, [&](engine::RequestId id) { return engine_.Take(id).has_value(); });
    return {};
  }

  void Compare(uint32_t run, const engine::Completion& completion) {
    ++report_.runs;
    const engine::Choice& choice = completion.choices[0];
    // The answer's digest covers ids and log-probabilities, the logits' digest everything; together they name an
    // answer.
    answers_.insert(engine::AnswerDigest(completion).hex() + choice.logits_digest.hex());
    const uint32_t position = FirstDifference(base_, choice);
    if (position == base_.tokens.size() && choice.tokens.size() == base_.tokens.size()) return;
    answers_.insert(report_.answer_digest + report_.logits_digest);
    constexpr size_t kDivergencesMax = 100;
    if (report_.divergences.size() < kDivergencesMax)
      report_.divergences.push_back(
          {run, position, base_.tokens[std::min<size_t>(position, base_.tokens.size() - 1)].margin});
  }

  const SoakOptions& options_;
  engine::Engine& engine_;
  const engine::Choice& base_;
  LoadNumbers numbers_;
  SoakReport report_;
  uint32_t steps_until_change_ = 0;
  uint32_t wanted_ = 1;
  uint32_t submitted_ = 0;
  std::map<engine::RequestId, uint32_t> runs_;
  std::set<engine::RequestId> neighbours_;
  std::set<std::string> answers_;
  std::set<uint64_t> batch_sizes_;
};

}  // namespace

Result<SoakReport> RunSoak(std::shared_ptr<const engine::Weights> weights, const SoakOptions& options,
                           const std::function<void(uint32_t)>& progress, const std::atomic<bool>* cancelled) {
  ASSIGN_OR_RETURN(const engine::Completion base, MakeBase(weights, options));
  ASSIGN_OR_RETURN(const auto engine, engine::Engine::Make(std::move(weights), nullptr, options.engine));
  return Soak(options, *engine, base).Go(progress, cancelled);
}

}  // namespace samebit::verify
