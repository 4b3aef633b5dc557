#include "verify/prompt.h"

namespace samebit::verify {
namespace {

Error OfPrompt(const Prompt& prompt, const Error& error) {
  return Error{error.code, "prompt \"" + prompt.id + "\": " + error.message};
}

std::string PieceOf(const text::Tokenizer& tokenizer, const std::optional<TokenId>& id) {
  return id ? std::string(tokenizer.Piece(*id)) : std::string();
}

}  // namespace

Result<std::vector<TokenId>> PromptRenderer::Render(const Prompt& prompt) const {
  if (chat_template != nullptr) {
    text::RenderOptions options;
    options.bos_token = PieceOf(*tokenizer, spec->bos);
    options.eos_token = PieceOf(*tokenizer, spec->eos);
    // A fixed date (2026-01-01), so that a template that prints one gives the same prompt on every day.
    options.now_unix_seconds = 1767225600;
    auto rendered = chat_template->Render(prompt.messages, options);
    if (!rendered.ok()) return OfPrompt(prompt, rendered.error());
    auto ids = tokenizer->Encode(*rendered, text::Specials::kParse);
    if (!ids.ok()) return OfPrompt(prompt, ids.error());
    return ids;
  }
  std::string raw;
  for (const text::ChatMessage& message : prompt.messages) {
    if (!raw.empty()) raw += "\n\n";
    raw += message.content;
  }
  auto ids = tokenizer->Encode(raw, text::Specials::kAsText);
  if (!ids.ok()) return OfPrompt(prompt, ids.error());
  std::vector<TokenId> with_bos;
  if (spec->add_bos && spec->bos) with_bos.push_back(*spec->bos);
  with_bos.insert(with_bos.end(), ids->begin(), ids->end());
  return with_bos;
}

}  // namespace samebit::verify
