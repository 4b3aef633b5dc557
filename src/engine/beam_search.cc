// Beam search: EngineImpl's StepBeams and EndBeams.
//
// All beams of a request stand at the same position. When the newest position of each has its candidates (twice as many
// as there are beams, so that stop ids cannot starve the search), the beams' extensions are put in a total order
// (cumulative raw log-probability descending, beam, token id) and the first beam_width that do not stop go on; those
// among the first beam_width that stop are finished. The search ends when beam_width answers are finished or at
// tokens_max; answers are ranked by mean log-probability, ties by their token ids. A cancelled search gives what it has.
#include <algorithm>

#include "engine/engine_impl.h"

namespace samebit::engine {

namespace {

struct Extension {
  double cumulative = 0;
  uint32_t beam = 0;
  const TokenRecord* record = nullptr;
};

bool Better(const Extension& a, const Extension& b) {
  if (a.cumulative != b.cumulative) return a.cumulative > b.cumulative;
  if (a.beam != b.beam) return a.beam < b.beam;
  return a.record->id < b.record->id;
}

std::vector<TokenId> IdsOf(const Hypothesis& hypothesis) {
  std::vector<TokenId> ids;
  for (const TokenRecord& token : hypothesis.tokens) ids.push_back(token.id);
  return ids;
}

}  // namespace

void EngineImpl::StepBeams(RequestState& state) {
  if (state.done) return;
  for (const Beam& beam : state.beams)
    if (beam.candidates.empty()) return;  // another beam is still on its way to this position
  const Request& request = state.request;

  std::vector<Extension> extensions;
  for (uint32_t i = 0; i < state.beams.size(); ++i)
    for (const TokenRecord& record : state.beams[i].candidates)
      extensions.push_back({state.beams[i].cumulative_logprob + record.logprob, i, &record});
  std::sort(extensions.begin(), extensions.end(), Better);

  std::vector<Beam> next;
  std::vector<bool> reused(state.beams.size(), false);
  for (uint32_t rank = 0; rank < extensions.size() && next.size() < request.beam_width; ++rank) {
    const Extension& extension = extensions[rank];
    const Beam& parent = state.beams[extension.beam];
    std::vector<TokenRecord> tokens = parent.tokens;
    tokens.push_back(*extension.record);
    if (std::binary_search(request.stop_ids.begin(), request.stop_ids.end(), extension.record->id)) {
      if (rank < request.beam_width)
        state.hypotheses.push_back({std::move(tokens), extension.cumulative, FinishReason::kStop});
      continue;
    }
    next.push_back({nullptr, std::move(tokens), extension.cumulative, {}});
    // The first child goes on in its parent's sequence; the others get a copy before that one grows.
    Sequence* sequence = parent.sequence;
    if (reused[extension.beam]) {
      state.sequences.push_back(MakeSequence(state, static_cast<uint32_t>(state.sequences.size())));
      sequence = state.sequences.back().get();
      sequence->tokens = parent.sequence->tokens;  // more than it has computed, if it was preempted meanwhile
      scheduler_.AddFork(*parent.sequence, sequence);
    }
    reused[extension.beam] = true;
    next.back().sequence = sequence;
  }
  for (Beam& beam : next) {
    beam.sequence->tokens.push_back(beam.tokens.back().id);
    beam.sequence->waits_for_beams = false;
  }
  for (uint32_t i = 0; i < state.beams.size(); ++i) {
    if (reused[i]) continue;
    state.beams[i].sequence->finished = true;
    scheduler_.Remove(state.beams[i].sequence);
  }
  state.beams = std::move(next);
  const bool out_of_tokens = !state.beams.empty() && state.beams[0].tokens.size() >= request.tokens_max;
  if (state.beams.empty() || out_of_tokens || state.hypotheses.size() >= request.beam_width) EndBeams(state, FinishReason::kLength);
  std::erase_if(state.sequences, [](const std::unique_ptr<Sequence>& sequence) { return sequence->finished; });
}

// cut_off: why the beams that are still open go no further, kLength or kCancelled.
void EngineImpl::EndBeams(RequestState& state, FinishReason cut_off) {
  const bool cancelled = cut_off == FinishReason::kCancelled;
  for (Beam& beam : state.beams)
    state.hypotheses.push_back({std::move(beam.tokens), beam.cumulative_logprob, cut_off});
  state.beams.clear();
  std::sort(state.hypotheses.begin(), state.hypotheses.end(), [&](const Hypothesis& a, const Hypothesis& b) {
    // Of a cancelled search people want a whole answer, if there is one.
    if (cancelled && a.finish_reason != b.finish_reason) return a.finish_reason == FinishReason::kStop;
    return a.score() != b.score() ? a.score() > b.score() : IdsOf(a) < IdsOf(b);
  });
  DropSequences(state);
  for (uint32_t i = 0; i < state.request.samples && i < state.hypotheses.size(); ++i) {
    Hypothesis& hypothesis = state.hypotheses[i];
    Answer answer;
    answer.choice.sample_index = i;
    answer.choice.cumulative_logprob = hypothesis.cumulative_logprob;
    // A cancelled search does not know yet which answers would have won, so none may look like its result.
    answer.choice.finish_reason = cancelled ? FinishReason::kCancelled : hypothesis.finish_reason;
    if (tokenizer_ != nullptr) answer.detokenizer.emplace(*tokenizer_);
    for (const TokenRecord& token : hypothesis.tokens) {
      const bool is_stop = hypothesis.finish_reason == FinishReason::kStop && &token == &hypothesis.tokens.back();
      if (answer.detokenizer && !is_stop) answer.choice.text += answer.detokenizer->Push(token.id);
      answer.digests.Update(token.logits_digest.bytes.data(), token.logits_digest.bytes.size());
    }
    if (answer.detokenizer) answer.choice.text += answer.detokenizer->Finish();
    if (state.request.logits_digests) answer.choice.logits_digest = answer.digests.Finish();
    answer.choice.tokens = std::move(hypothesis.tokens);
    answer.done = true;
    state.answers.push_back(std::move(answer));
    if (!state.sink || cancelled) continue;
    const Choice& choice = state.answers.back().choice;
    for (const TokenRecord& token : choice.tokens)
      state.sink(choice.sample_index, token,
                 &token == &choice.tokens.back() ? std::string_view(choice.text) : std::string_view());
  }
}

}  // namespace samebit::engine
