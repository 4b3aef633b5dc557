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
                         WorkQueue& work)
    : prepared_(std::move(prepared)), port_(std::move(port)), tokenizer_(tokenizer), work_(work) {
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
  openai::Answer answer;
  answer.endpoint = prepared_.endpoint;
  answer.head = prepared_.head;
  answer.reproducibility = prepared_.reproducibility;
  std::vector<std::string> reasons;
  for (uint32_t i = 0; i < completions_.size(); ++i) {
    const engine::Completion& completion = *completions_[i];
    answer.usage.prompt_tokens += completion.prompt_tokens;
    answer.usage.cached_tokens += completion.trace.cached_prompt_tokens;
    for (const engine::Choice& choice : completion.choices) {
      if (!prepared_.drops_answer) answer.usage.completion_tokens += choice.tokens.size();
      answer.choices.push_back(ToChoice(i, choice));
      reasons.push_back(answer.choices.back().finish_reason);
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

openai::AnswerChoice WholeAnswer::ToChoice(uint32_t prompt_index, const engine::Choice& choice) const {
  const openai::CommonRequest& common = prepared_.common;
  openai::AnswerChoice out;
  out.index = prompt_index * prepared_.samples + choice.sample_index;
  out.finish_reason = prepared_.drops_answer ? "length" : engine::FinishReasonName(choice.finish_reason);
  if (prepared_.echo) out.text = prepared_.prompt_texts[prompt_index];
  if (!prepared_.drops_answer) out.text += choice.text;
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
