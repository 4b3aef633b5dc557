#include "cli/prompt.h"

#include "text/prompt_ids.h"

namespace samebit::cli {

Result<std::string> RenderChat(const LoadedModel& loaded, const std::vector<text::ChatMessage>& messages,
                               std::optional<int64_t> now_unix_seconds) {
  if (loaded.chat_template == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 "this model has no chat template, so a chat turn cannot be written for it; use --raw TEXT to give it "
                 "the text as it is"};
  }
  text::RenderOptions options = text::RenderOptionsFor(*loaded.tokenizer, loaded.model->tokenizer());
  options.now_unix_seconds = now_unix_seconds;
  Result<std::string> rendered = loaded.chat_template->Render(messages, options);
  if (!rendered.ok() && rendered.error().code == ErrorCode::kUnsupported && !now_unix_seconds) {
    return Error{ErrorCode::kUnsupported,
                 rendered.error().message + "; give the date that the template prints with --now UNIX_SECONDS"};
  }
  return rendered;
}

Result<std::vector<TokenId>> PromptIds(const LoadedModel& loaded, std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                   text::PromptIds(*loaded.tokenizer, loaded.model->tokenizer(), text));
  if (ids.empty()) return Error{ErrorCode::kInvalidArgument, "the prompt is empty: give it at least one character"};
  return ids;
}

Status CheckPromptIds(const LoadedModel& loaded, const std::vector<TokenId>& ids) {
  const uint32_t vocabulary = loaded.model->config().vocabulary;
  for (const TokenId id : ids) {
    if (id < 0 || static_cast<uint32_t>(id) >= vocabulary) {
      return Error{ErrorCode::kInvalidArgument, "--token-ids: the model has token ids 0 to " +
                                                    std::to_string(vocabulary - 1) + ", found " + std::to_string(id)};
    }
  }
  return {};
}

}  // namespace samebit::cli
