#include "server/streamed_answer.h"

#include "server/token_text.h"
#include "server/whole_answer.h"

namespace samebit::server {

StreamedAnswer::StreamedAnswer(Prepared prepared, std::shared_ptr<AnswerPort> port, const text::Tokenizer& tokenizer)
    : prepared_(std::move(prepared)),
      port_(std::move(port)),
      tokenizer_(tokenizer),
      text_offsets_(prepared_.prompts.size() * prepared_.samples) {
  for (uint32_t choice = 0; choice < text_offsets_.size(); ++choice) readers_.emplace_back(prepared_.tools, choice);
}

void StreamedAnswer::OnAccepted() {
  const std::lock_guard lock(mutex_);
  mailbox_.accepted = true;
}

void StreamedAnswer::OnToken(uint32_t prompt_index, uint32_t sample_index, const engine::TokenRecord& token,
                             std::string_view text) {
  if (prepared_.drops_answer) return;
  const std::lock_guard lock(mutex_);
  mailbox_.tokens.push_back({prompt_index * prepared_.samples + sample_index, token, std::string(text)});
}

void StreamedAnswer::OnEnd(uint32_t prompt_index, Result<engine::Completion> completion) {
  EndEvent event;
  event.prompt_index = prompt_index;
  if (!completion.ok()) {
    event.error = completion.error();
  } else if (WasCancelled(*completion)) {
    event.error = Error{ErrorCode::kCancelled, ""};
  } else {
    event.usage.prompt_tokens = completion->prompt_tokens;
    event.usage.cached_tokens = completion->trace.cached_prompt_tokens;
    for (const engine::Choice& choice : completion->choices) {
      event.choices.emplace_back(choice.sample_index, prepared_.drops_answer ? engine::FinishReason::kLength
                                                                             : choice.finish_reason);
      if (!prepared_.drops_answer) event.usage.completion_tokens += choice.tokens.size();
    }
  }
  const std::lock_guard lock(mutex_);
  mailbox_.ends.push_back(std::move(event));
}

void StreamedAnswer::Wake() {
  Mailbox mail;
  {
    const std::lock_guard lock(mutex_);
    std::swap(mail, mailbox_);
  }
  if (over_) return;
  std::string out;
  if (mail.accepted) Begin(out);
  if (!mail.tokens.empty()) port_->CountTokensArrived();
  for (const TokenEvent& event : mail.tokens) WriteToken(event, out);
  for (const EndEvent& event : mail.ends) {
    if (!WriteEnd(event, out)) return;
  }
  if (!out.empty()) port_->Write(std::move(out));
  if (over_) {
    port_->CountAnswer(usage_, reasons_, prepared_.head.model);
    port_->EndStream();
  }
}

// The head, and what is known before the first token: the roles, the prompt's ids, the echo.
void StreamedAnswer::Begin(std::string& out) {
  begun_ = true;
  port_->BeginStream(ReproducibilityHeaders(prepared_.reproducibility));
  const bool is_chat = prepared_.endpoint == openai::Endpoint::kChat;
  for (uint32_t choice = 0; choice < text_offsets_.size(); ++choice) {
    const uint32_t prompt = choice / prepared_.samples;
    const bool gives_ids = prepared_.common.return_token_ids && choice % prepared_.samples == 0;
    if (!is_chat && !prepared_.echo && !gives_ids) continue;
    openai::ChunkChoice chunk;
    chunk.index = choice;
    chunk.gives_role = is_chat;
    if (prepared_.echo) chunk.text = prepared_.prompt_texts[prompt];
    if (prepared_.common.return_token_ids) chunk.token_ids.emplace();
    Append(&chunk, {.prompt_token_ids = gives_ids ? &prepared_.prompts[prompt] : nullptr}, out);
  }
}

void StreamedAnswer::WriteToken(const TokenEvent& event, std::string& out) {
  const openai::CommonRequest& common = prepared_.common;
  port_->CountMargin(event.record.margin);
  AnswerReader::Piece piece = readers_[event.choice].Push(event.text);
  // A token without text of its own (half a character, the beginning of a stop string or of a call) needs no chunk.
  const bool says_nothing = piece.content.empty() && piece.calls.empty();
  if (says_nothing && !common.wants_logprobs && !common.return_token_ids) return;
  openai::ChunkChoice chunk;
  chunk.index = event.choice;
  chunk.text = std::move(piece.content);
  chunk.calls = std::move(piece.calls);
  chunk.text_offset = &text_offsets_[event.choice];
  if (common.wants_logprobs) {
    chunk.logprobs.emplace();
    chunk.logprobs->push_back(
        ToEntry(event.record, tokenizer_, {common.sampling.logprobs.value_or(0), common.tokens_as_ids, common.return_margins}));
  }
  if (common.return_token_ids) chunk.token_ids = {event.record.id};
  Append(&chunk, {}, out);
}

bool StreamedAnswer::WriteEnd(const EndEvent& event, std::string& out) {
  if (event.error) {
    over_ = true;
    const std::string param = prepared_.endpoint == openai::Endpoint::kChat ? "messages" : "prompt";
    const openai::ApiError error =
        event.error->code == ErrorCode::kCancelled ? ServerStopping() : ToApiError(*event.error, param);
    if (!begun_) {
      port_->SendError(error);
      return false;
    }
    if (!out.empty()) port_->Write(std::move(out));
    port_->EndStreamWithError(error);
    return false;
  }
  usage_.prompt_tokens += event.usage.prompt_tokens;
  usage_.completion_tokens += event.usage.completion_tokens;
  usage_.cached_tokens += event.usage.cached_tokens;
  over_ = ++ended_ == prepared_.prompts.size();
  for (const auto& [sample, reason] : event.choices) {
    const bool is_last = over_ && sample == event.choices.back().first;
    openai::ChunkChoice chunk;
    chunk.index = event.prompt_index * prepared_.samples + sample;
    AnswerReader& reader = readers_[chunk.index];
    AnswerReader::Piece rest = reader.Finish();
    if (!rest.content.empty() || !rest.calls.empty()) {
      chunk.text = std::move(rest.content);
      chunk.calls = std::move(rest.calls);
      chunk.text_offset = &text_offsets_[chunk.index];
      Append(&chunk, {}, out);
      chunk.text.clear();
      chunk.calls.clear();
    }
    chunk.finish_reason = engine::FinishReasonName(reason);
    if (reader.called() && reason == engine::FinishReason::kStop) chunk.finish_reason = "tool_calls";
    if (prepared_.common.return_token_ids) chunk.token_ids.emplace();
    reasons_.push_back(chunk.finish_reason);
    const bool says_all = is_last && !prepared_.common.stream_usage;
    Append(&chunk, {.reproducibility = says_all ? &prepared_.reproducibility : nullptr}, out);
  }
  if (over_) WriteLast(out);
  return true;
}

void StreamedAnswer::WriteLast(std::string& out) {
  if (prepared_.common.stream_usage)
    Append(nullptr, {.usage = &usage_, .reproducibility = &prepared_.reproducibility}, out);
  out += openai::kSseDone;
}

void StreamedAnswer::Append(const openai::ChunkChoice* choice, openai::ChunkExtras extras, std::string& out) const {
  extras.usage_is_null = prepared_.common.stream_usage;
  out += openai::SseEvent(openai::ChunkJson(prepared_.endpoint, prepared_.head, choice, extras));
}

}  // namespace samebit::server
