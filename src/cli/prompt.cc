#include "cli/prompt.h"

namespace samebit::cli {

Result<std::string> RenderChat(const LoadedModel& loaded, const std::vector<text::ChatMessage>& messages,
                               std::optional<int64_t> now_unix_seconds) {
  if (loaded.chat_template == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 "this model has no chat template, so a chat turn cannot be written for it; use --raw TEXT to give it "
                 "the text as it is"};
  }
  const TokenizerSpec& spec = loaded.model->tokenizer();
  text::RenderOptions options;
  options.now_unix_seconds = now_unix_seconds;
  if (spec.bos) options.bos_token = loaded.tokenizer->Piece(*spec.bos);
  if (spec.eos) options.eos_token = loaded.tokenizer->Piece(*spec.eos);
  Result<std::string> rendered = loaded.chat_template->Render(messages, options);
  if (!rendered.ok() && rendered.error().code == ErrorCode::kUnsupported && !now_unix_seconds) {
    return Error{ErrorCode::kUnsupported,
                 rendered.error().message + "; give the date that the template prints with --now UNIX_SECONDS"};
  }
  return rendered;
}

Result<std::vector<TokenId>> PromptIds(const LoadedModel& loaded, std::string_view text) {
  const TokenizerSpec& spec = loaded.model->tokenizer();
  ASSIGN_OR_RETURN(std::vector<TokenId> ids, loaded.tokenizer->Encode(text, text::Specials::kParse));
  if (spec.add_bos && spec.bos && (ids.empty() || ids.front() != *spec.bos)) ids.insert(ids.begin(), *spec.bos);
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
