#include "server/whole_answer.h"

#include <algorithm>

#include "server/token_text.h"

namespace samebit::server {

std::vector<std::pair<std::string, std::string>> ReproducibilityHeaders(const openai::Reproducibility& from) {
  return {{"X-Reproducibility-Tier", std::to_string(from.tier_effective)},
          {"X-Inference-Fingerprint", from.inference_fingerprint},
          {"X-Result-Cache", "bypass"}};
}

bool WasCancelled(const engine::Completion& completion) {
  return std::any_of(completion.choices.begin(), completion.choices.end(), [](const engine::Choice& choice) {
    return choice.finish_reason == engine::FinishReason::kCancelled;
  });
}

openai::ApiError ServerStopping() {
  return ToApiError(Error{ErrorCode::kCancelled, "the server is stopping; ask again elsewhere or later"}, "");
}

WholeAnswer::WholeAnswer(Prepared prepared, std::shared_ptr<AnswerPort> port, const text::Tokenizer& tokenizer,
                         WorkQueue& work, Submitter again)
    : prepared_(std::move(prepared)),
      port_(std::move(port)),
      tokenizer_(tokenizer),
      work_(work),
      again_(std::move(again)) {
  completions_.resize(prepared_.prompts.size());
}

void WholeAnswer::OnEnd(uint32_t prompt_index, Result<engine::Completion> completion) {
  // The first failure answers; the other prompts' ends come to nobody, and the work thread may be reading already.
  if (error_) return;
  if (!completion.ok())
    error_ = completion.error();
  else if (WasCancelled(*completion))
    error_ = Error{ErrorCode::kCancelled, ""};
  else
    completions_[prompt_index] = std::move(completion).value();
  ++ended_;
  if (error_ || ended_ == completions_.size()) work_.Post([self = shared_from_this()] { self->Answer(); });
}

void WholeAnswer::Answer() {
  if (error_) {
    const std::string param = prepared_.endpoint == openai::Endpoint::kChat ? "messages" : "prompt";
    port_->SendError(error_->code == ErrorCode::kCancelled ? ServerStopping() : ToApiError(*error_, param));
    return;
  }
  if (prepared_.attempts_max > 0 && !Judge()) return;
  openai::Answer answer;
  answer.usage = earlier_;
  answer.endpoint = prepared_.endpoint;
  answer.head = prepared_.head;
  answer.reproducibility = prepared_.reproducibility;
  answer.reproducibility.attempts = attempts_;
  std::vector<std::string> reasons;
  for (uint32_t i = 0; i < completions_.size(); ++i) {
    const engine::Completion& completion = *completions_[i];
    answer.usage.prompt_tokens += completion.prompt_tokens;
    answer.usage.cached_tokens += completion.trace.cached_prompt_tokens;
    for (const engine::Choice& choice : completion.choices) {
      if (!prepared_.drops_answer) answer.usage.completion_tokens += choice.tokens.size();
      answer.choices.push_back(ToChoice(i, choice));
      reasons.push_back(answer.choices.back().finish_reason);
      for (const engine::TokenRecord& record : choice.tokens) port_->CountMargin(record.margin);
    }
    if (prepared_.common.wants_prompt_logprobs) {
      answer.prompt_logprobs.push_back(PromptEntries(prepared_.prompts[i], completion.prompt_records, tokenizer_,
                                                     {prepared_.common.prompt_logprobs, prepared_.common.tokens_as_ids}));
    }
  }
  if (prepared_.common.return_token_ids) answer.prompt_token_ids = prepared_.prompts;
  port_->CountAnswer(answer.usage, reasons, answer.head.model);
  port_->SendJson(AnswerJson(answer), ReproducibilityHeaders(answer.reproducibility));
}

bool WholeAnswer::Judge() {
  const engine::Completion& completion = *completions_[0];
  const engine::Choice& choice = completion.choices[0];
  const engine::Request& asked = *prepared_.attempt;
  Result<std::string> complaint = asked.grammar->Complaint(choice.text);
  openai::Attempt attempt;
  attempt.seed = std::to_string(completion.seed);
  attempt.finish_reason = engine::FinishReasonName(choice.finish_reason);
  attempt.completion_tokens = choice.tokens.size();
  attempt.complaint = complaint.ok() ? *complaint : complaint.error().message;
  attempts_.push_back(attempt);
  if (attempt.complaint.empty()) return true;
  if (port_->begun()) return false;  // it took too long: that was the answer
  if (attempts_.size() < prepared_.attempts_max) {
    earlier_.prompt_tokens += completion.prompt_tokens;
    earlier_.cached_tokens += completion.trace.cached_prompt_tokens;
    earlier_.completion_tokens += choice.tokens.size();
    engine::Request next = asked;
    next.sampling.seed = AttemptSeed(asked.sampling.seed, static_cast<uint32_t>(attempts_.size()));
    completions_[0].reset();
    ended_ = 0;
    const Status status = again_({std::move(next)}, shared_from_this());
    if (!status.ok()) port_->SendError(ToApiError(status.error(), "response_format"));
    return false;
  }
  // An answer that was cut says so itself.
  if (choice.finish_reason == engine::FinishReason::kLength) return true;
  openai::ApiError error = openai::InvalidValue("response_format", "", "schema_not_satisfied");
  error.status = 422;
  for (size_t i = 0; i < attempts_.size(); ++i) {
    error.message += (i == 0 ? "no attempt satisfies the schema: seed " : "; seed ") + attempts_[i].seed + ": " +
                     std::to_string(attempts_[i].completion_tokens) + " tokens, " + attempts_[i].complaint;
  }
  port_->SendError(error);
  return false;
}

openai::AnswerChoice WholeAnswer::ToChoice(uint32_t prompt_index, const engine::Choice& choice) const {
  const openai::CommonRequest& common = prepared_.common;
  openai::AnswerChoice out;
  out.index = prompt_index * prepared_.samples + choice.sample_index;
  out.finish_reason = prepared_.drops_answer ? "length" : engine::FinishReasonName(choice.finish_reason);
  if (prepared_.echo) out.text = prepared_.prompt_texts[prompt_index];
  if (!prepared_.drops_answer) {
    AnswerReader reader(prepared_.tools, out.index);
    AnswerReader::Piece piece = reader.Push(choice.text);
    AnswerReader::Piece rest = reader.Finish();
    out.text += piece.content + rest.content;
    out.calls = std::move(piece.calls);
    // A call that was cut off in its arguments.
    for (const openai::ToolCallDelta& call : rest.calls) out.calls[call.index].arguments += call.arguments;
    if (reader.called() && choice.finish_reason == engine::FinishReason::kStop) out.finish_reason = "tool_calls";
  }
  if (common.wants_logprobs) {
    const TokenTextOptions options = {common.sampling.logprobs.value_or(0), common.tokens_as_ids,
                                      common.return_margins};
    std::vector<openai::TokenEntry> entries;
    if (prepared_.echo)
      entries = PromptEntries(prepared_.prompts[prompt_index], completions_[prompt_index]->prompt_records, tokenizer_,
                              options);
    if (!prepared_.drops_answer) {
      for (const engine::TokenRecord& record : choice.tokens) entries.push_back(ToEntry(record, tokenizer_, options));
    }
    out.logprobs = std::move(entries);
  }
  if (common.return_token_ids) {
    out.token_ids.emplace();
    if (!prepared_.drops_answer) {
      for (const engine::TokenRecord& record : choice.tokens) out.token_ids->push_back(record.id);
    }
  }
  return out;
}

}  // namespace samebit::server
