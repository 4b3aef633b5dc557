#include "engine/engine.h"

#include <algorithm>
#include <bit>

#include "arith/number_formats.h"
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/engine_impl.h"
#include "engine/grammar_mask.h"

namespace samebit::engine {

const char* FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "length";
}

Result<std::unique_ptr<Engine>> Engine::Make(std::shared_ptr<const Weights> weights, const text::Tokenizer* tokenizer,
                                             const EngineOptions& options) {
  if (weights->config.kind == model::ModelKind::kEncoder)
    return Error{ErrorCode::kUnsupported, "a sentence encoder (" + weights->config.family +
                                              ") gives vectors of texts and generates none: use samebit embed or serve"};
  RETURN_IF_ERROR(CheckOptions(options, *weights));
  return std::unique_ptr<Engine>(std::make_unique<EngineImpl>(std::move(weights), tokenizer, options));
}

EngineImpl::EngineImpl(std::shared_ptr<const Weights> weights, const text::Tokenizer* tokenizer,
                       const EngineOptions& options)
    : weights_(std::move(weights)),
      tokenizer_(tokenizer),
      options_(options),
      context_max_(options.context_max == 0 ? weights_->config.context : options.context_max),
      cache_({weights_->config.layers,
              weights_->config.kv_heads,
              {options.cache_type, weights_->config.head_size, options.page_tokens},
              options.cache_bytes},
             options.prefix_cache),
      scheduler_(options_, cache_),
      decoder_(*weights_, options_, cache_),
      team_(options.threads, options.current_cpu),
      scratch_(kLogitRowsMax) {}

Result<RequestId> EngineImpl::Submit(Request request, TokenSink sink) {
  RequestLimits bounds;
  bounds.vocabulary = weights_->config.vocabulary;
  bounds.context_max = context_max_;
  bounds.cache_tokens_max =
      static_cast<uint32_t>(std::min<uint64_t>(uint64_t{cache_.page_count()} * options_.page_tokens, UINT32_MAX));
  bounds.page_tokens = options_.page_tokens;
  bounds.sequences_max = options_.sequences_max;
  bounds.has_tokenizer = tokenizer_ != nullptr;
  RETURN_IF_ERROR(CheckRequest(request, bounds));

  auto state = std::make_unique<RequestState>();
  state->id = next_id_++;
  state->request = std::move(request);
  state->sink = std::move(sink);
  const Request& stored = state->request;
  if (stored.beam_width == 0) {
    state->answers.resize(stored.samples);
    for (uint32_t i = 0; i < stored.samples; ++i) {
      Answer& answer = state->answers[i];
      answer.choice.sample_index = stored.first_sample_index + i;
      if (tokenizer_ == nullptr) continue;
      answer.detokenizer.emplace(*tokenizer_);
      ASSIGN_OR_RETURN(answer.stops, text::StopStringMatcher::Make(stored.stop_strings));
    }
  }
  if (stored.score_prompt) state->prompt_records.resize(stored.prompt.size() - 1);
  state->sequences.push_back(MakeSequence(*state, 0));
  if (stored.grammar != nullptr) {
    ASSIGN_OR_RETURN(state->sequences[0]->grammar, stored.grammar->Start());
  }
  if (stored.beam_width > 0) state->beams.push_back({state->sequences[0].get(), {}, 0, {}});
  scheduler_.Add(state->sequences[0].get());
  const RequestId id = state->id;
  requests_.emplace(id, std::move(state));
  return id;
}

std::unique_ptr<Sequence> EngineImpl::MakeSequence(RequestState& state, uint32_t sample) const {
  auto sequence = std::make_unique<Sequence>();
  sequence->request = &state;
  sequence->sample = sample;
  sequence->arrival = state.id;
  sequence->tokens = state.request.prompt;
  return sequence;
}

void EngineImpl::Cancel(RequestId id) {
  const auto found = requests_.find(id);
  if (found != requests_.end()) found->second->cancelled = true;
}

std::optional<Result<Completion>> EngineImpl::Take(RequestId id) {
  const auto found = requests_.find(id);
  if (found == requests_.end() || !found->second->done) return std::nullopt;
  const std::unique_ptr<RequestState> state = std::move(found->second);
  requests_.erase(found);
  if (state->error) return Result<Completion>(*state->error);
  Completion completion;
  for (Answer& answer : state->answers) completion.choices.push_back(std::move(answer.choice));
  completion.prompt_records = std::move(state->prompt_records);
  completion.seed = state->request.sampling.seed;
  completion.prompt_tokens = static_cast<uint32_t>(state->request.prompt.size());
  completion.trace = state->trace;
  return Result<Completion>(std::move(completion));
}

bool EngineImpl::Step() {
  if (observer_ != nullptr) observer_->Begin(Phase::kSchedule);
  DropCancelled();
  if (options_.preempt_every_steps > 0 &&
      counters_.steps % options_.preempt_every_steps == options_.preempt_every_steps - 1)
    scheduler_.PreemptNewest();
  const std::vector<Scheduler::Item> items = scheduler_.Choose();
  if (items.empty()) return false;
  const Batch batch = MakeBatch(items);
  Trace(items);
  outcomes_.assign(batch.logit_rows.size(), {});
  decoder_.Forward(team_, batch, [this](uint32_t index, const float* logits) {
    outcomes_[index] = Look(targets_[index], logits, scratch_[index % kLogitRowsMax]);
  });
  if (observer_ != nullptr) observer_->Begin(Phase::kSchedule);
  Integrate(items, batch);
  if (observer_ != nullptr) observer_->Begin(Phase::kOutside);
  ++counters_.steps;
  counters_.rows += batch.rows();
  counters_.preemptions = scheduler_.preemptions();
  counters_.cached_tokens = scheduler_.cached_tokens();
  return true;
}

Batch EngineImpl::MakeBatch(const std::vector<Scheduler::Item>& items) {
  Batch batch;
  targets_.clear();
  for (const Scheduler::Item& item : items) {
    Sequence& sequence = *item.sequence;
    const RequestState& state = *sequence.request;
    const auto prompt_size = static_cast<uint32_t>(state.request.prompt.size());
    batch.groups.push_back({&sequence.pages, batch.rows(), item.row_count, sequence.computed});
    for (uint32_t i = 0; i < item.row_count; ++i) {
      const Position position = sequence.computed + i;
      const uint32_t row = batch.rows();
      batch.tokens.push_back(sequence.tokens[position]);
      batch.positions.push_back(position);
      const bool is_last = position + 1 == sequence.tokens.size();
      const bool scores = state.request.score_prompt && !state.prompt_scored && position + 1 < prompt_size;
      if (!is_last && !scores) continue;
      batch.logit_rows.push_back(row);
      targets_.push_back({&sequence, row, scores, position});
    }
  }
  return batch;
}

void EngineImpl::Trace(const std::vector<Scheduler::Item>& items) {
  uint32_t rows = 0;
  for (const Scheduler::Item& item : items) rows += item.row_count;
  const auto sequences = static_cast<uint32_t>(items.size());
  counters_.sequences_in_step_max = std::max<uint64_t>(counters_.sequences_in_step_max, sequences);
  for (const Scheduler::Item& item : items) {
    RequestState& state = *item.sequence->request;
    RequestTrace& trace = state.trace;
    trace.sequences_in_step_max = std::max(trace.sequences_in_step_max, sequences);
    trace.rows_in_step_max = std::max(trace.rows_in_step_max, rows);
    if (item.sequence->computed < state.request.prompt.size())
      trace.prefill_chunk_max = std::max(trace.prefill_chunk_max, item.row_count);
    if (state.traced_step != counters_.steps + 1) ++trace.steps;
    state.traced_step = counters_.steps + 1;
  }
}

// Runs on a worker; reads the request, writes nothing but its own outcome.
EngineImpl::LogitOutcome EngineImpl::Look(const LogitTarget& target, const float* logits,
                                          SamplerScratch& scratch) const {
  LogitOutcome outcome;
  const kernels::KernelTable& kernels = kernels::Kernels(options_.isa);
  const uint32_t vocabulary = weights_->config.vocabulary;
  const RequestState& state = *target.sequence->request;
  const Request& request = state.request;
  if (!kernels.all_finite(logits, vocabulary)) {
    outcome.finite = false;
    return outcome;
  }
  const uint32_t candidates = target.scores_prompt ? 0 : 2 * request.beam_width;
  const PositionReport report = ReportPosition(kernels, logits, vocabulary, std::max(request.top_logprobs, candidates),
                                               request.logits_digests, scratch);
  if (target.scores_prompt) {
    outcome.records.push_back(RecordOf(report, logits, request.prompt[target.position + 1], request.top_logprobs));
    return outcome;
  }
  if (request.beam_width > 0) {
    for (uint32_t i = 0; i < candidates; ++i)
      outcome.records.push_back(RecordOf(report, logits, report.top[i].id, request.top_logprobs));
    return outcome;
  }
  const Sequence& sequence = *target.sequence;
  SampleInput input;
  input.logits = logits;
  input.vocabulary = vocabulary;
  input.params = &request.sampling;
  input.prompt = request.prompt;
  input.answer = std::span(sequence.tokens).subspan(request.prompt.size());
  if (input.answer.size() < request.tokens_min) input.masked = request.stop_ids;
  if (sequence.grammar != nullptr) {
    const Status masked = MaskByGrammar(*sequence.grammar, request.stop_ids, scratch.allowed, input);
    if (!masked.ok()) {
      outcome.grammar_error = masked.error();
      return outcome;
    }
  }
  const uint32_t last = state.forked ? sequence.sample + 1 : request.samples;
  for (uint32_t sample = sequence.sample; sample < last; ++sample) {
    input.sample_index = uint64_t{request.first_sample_index} + sample;
    outcome.records.push_back(RecordOf(report, logits, SampleToken(kernels, input, scratch), request.top_logprobs));
  }
  return outcome;
}

void EngineImpl::Integrate(const std::vector<Scheduler::Item>& items, const Batch& batch) {
  std::vector<RequestState*> beam_requests;
  for (size_t i = 0; i < items.size(); ++i) {
    RequestState& state = *items[i].sequence->request;
    const RowGroup& group = batch.groups[i];
    for (uint32_t row = group.first_row; row < group.first_row + group.row_count; ++row) {
      if (decoder_.row_failed(row))
        Fail(state, {ErrorCode::kNumeric,
                     "a layer gave a NaN or an infinity at position " + std::to_string(batch.positions[row])});
    }
    if (!state.done) scheduler_.Computed(items[i]);
  }
  for (size_t i = 0; i < targets_.size(); ++i) {
    Sequence& sequence = *targets_[i].sequence;
    RequestState& state = *sequence.request;
    if (state.done || sequence.finished) continue;
    LogitOutcome& outcome = outcomes_[i];
    if (!outcome.finite) {
      Fail(state,
           {ErrorCode::kNumeric, "the logits at position " + std::to_string(targets_[i].position) + " are not finite"});
    } else if (outcome.grammar_error) {
      Fail(state, std::move(*outcome.grammar_error));
    } else if (targets_[i].scores_prompt) {
      state.prompt_records[targets_[i].position] = std::move(outcome.records[0]);
    } else if (state.request.beam_width > 0) {
      state.prompt_scored = true;
      sequence.waits_for_beams = true;
      for (Beam& beam : state.beams)
        if (beam.sequence == &sequence) beam.candidates = std::move(outcome.records);
      if (std::find(beam_requests.begin(), beam_requests.end(), &state) == beam_requests.end())
        beam_requests.push_back(&state);
    } else if (!state.forked) {
      SampledFirst(state, sequence, std::move(outcome.records));
    } else {
      Append(state, sequence, std::move(outcome.records[0]));
    }
  }
  for (RequestState* state : beam_requests) StepBeams(*state);
}

// The prompt's last position: every sample draws from the same logits, and the samples part here.
void EngineImpl::SampledFirst(RequestState& state, Sequence& leader, std::vector<TokenRecord> records) {
  state.forked = true;
  state.prompt_scored = true;
  for (uint32_t sample = 1; sample < state.request.samples; ++sample) {
    std::unique_ptr<Sequence> sequence = MakeSequence(state, sample);
    if (leader.grammar != nullptr) {
      Result<std::unique_ptr<text::GrammarState>> copy = leader.grammar->Copy();
      if (!copy.ok()) return Fail(state, copy.error());
      sequence->grammar = std::move(copy).value();
    }
    state.sequences.push_back(std::move(sequence));
    scheduler_.AddFork(leader, state.sequences.back().get());
  }
  for (uint32_t sample = 0; sample < state.request.samples; ++sample) {
    Sequence* sequence = sample == 0 ? &leader : state.sequences[sample].get();
    Append(state, *sequence, std::move(records[sample]));
    if (state.done) return;
  }
}

void EngineImpl::Append(RequestState& state, Sequence& sequence, TokenRecord record) {
  const Request& request = state.request;
  Answer& answer = state.answers[sequence.sample];
  sequence.tokens.push_back(record.id);
  answer.choice.cumulative_logprob += record.logprob;
  if (request.logits_digests)
    answer.digests.Update(record.logits_digest.bytes.data(), record.logits_digest.bytes.size());
  const bool is_stop_id = std::binary_search(request.stop_ids.begin(), request.stop_ids.end(), record.id);
  bool is_complete = false;
  if (sequence.grammar != nullptr && !is_stop_id) {
    const Result<bool> complete = sequence.grammar->Commit(record.id);
    if (!complete.ok()) return Fail(state, complete.error());
    is_complete = *complete;
  }
  std::string text;
  if (!is_stop_id && answer.detokenizer) text = answer.stops->Push(answer.detokenizer->Push(record.id));
  const bool stops = is_stop_id || is_complete || (answer.stops && answer.stops->found());
  const bool ends = stops || answer.choice.tokens.size() + 1 >= request.tokens_max;
  if (ends && answer.detokenizer) {
    text += answer.stops->Push(answer.detokenizer->Finish());
    text += answer.stops->Finish();
  }
  answer.choice.text += text;
  answer.choice.tokens.push_back(std::move(record));
  if (state.sink) state.sink(answer.choice.sample_index, answer.choice.tokens.back(), text);
  if (ends) EndAnswer(state, &sequence, answer, stops ? FinishReason::kStop : FinishReason::kLength);
}

void EngineImpl::EndAnswer(RequestState& state, Sequence* sequence, Answer& answer, FinishReason reason) {
  answer.done = true;
  answer.choice.finish_reason = reason;
  if (state.request.logits_digests) answer.choice.logits_digest = answer.digests.Finish();
  sequence->finished = true;
  scheduler_.Remove(sequence);
  state.done = std::all_of(state.answers.begin(), state.answers.end(), [](const Answer& a) { return a.done; });
}

void EngineImpl::DropSequences(RequestState& state) {
  for (const auto& sequence : state.sequences) {
    if (!sequence->finished) scheduler_.Remove(sequence.get());
    sequence->finished = true;
  }
  state.done = true;
}

void EngineImpl::Fail(RequestState& state, Error error) {
  if (state.done) return;
  state.error = std::move(error);
  DropSequences(state);
}

void EngineImpl::DropCancelled() {
  for (auto& [id, state] : requests_) {
    if (!state->cancelled || state->done) continue;
    if (state->request.beam_width > 0) EndBeams(*state, FinishReason::kCancelled);
    for (Answer& answer : state->answers) {
      if (answer.done) continue;
      answer.choice.finish_reason = FinishReason::kCancelled;
      if (answer.detokenizer) {
        answer.choice.text += answer.stops->Push(answer.detokenizer->Finish());
        answer.choice.text += answer.stops->Finish();
      }
      if (state->request.logits_digests) answer.choice.logits_digest = answer.digests.Finish();
    }
    DropSequences(*state);
  }
}

Result<Completion> Run(Engine& engine, Request request, TokenSink sink) {
  ASSIGN_OR_RETURN(const RequestId id, engine.Submit(std::move(request), std::move(sink)));
  for (;;) {
    const bool worked = engine.Step();
    if (auto completion = engine.Take(id)) return std::move(*completion);
    if (!worked) return Error{ErrorCode::kInternal, "the engine has nothing to do and the request is not done"};
  }
}

Sha256Digest AnswerDigest(const Completion& completion) {
  Sha256 hash;
  const auto add = [&](uint32_t word) {
    const uint8_t bytes[4] = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                              static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
    hash.Update(bytes, 4);
  };
  for (const Choice& choice : completion.choices) {
    add(choice.sample_index);
    add(static_cast<uint32_t>(choice.tokens.size()));
    for (const TokenRecord& token : choice.tokens) {
      add(static_cast<uint32_t>(token.id));
      add(arith::BitsOf(token.logprob));
    }
  }
  return hash.Finish();
}

}  // namespace samebit::engine
