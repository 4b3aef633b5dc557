#include "text/prompt_ids.h"

#include <algorithm>

namespace samebit::text {
namespace {

void PutBosInFront(const TokenizerSpec& spec, std::vector<TokenId>& ids) {
  if (spec.add_bos && spec.bos && (ids.empty() || ids.front() != *spec.bos)) ids.insert(ids.begin(), *spec.bos);
}

// A noncharacter (U+FDD0..U+FDEF, "intended for internal use") that no message holds.
std::string FreeMark(const std::vector<ChatMessage>& messages, const std::string& tools) {
  for (int last = 0x90; last <= 0xAF; ++last) {
    const std::string mark = {'\xEF', '\xB7', static_cast<char>(last)};
    const bool is_free = std::none_of(messages.begin(), messages.end(), [&](const ChatMessage& message) {
      return message.content.find(mark) != std::string::npos || message.extra_json.find(mark) != std::string::npos;
    });
    if (is_free && tools.find(mark) == std::string::npos) return mark;
  }
  return "";
}

}  // namespace

Result<std::vector<TokenId>> PromptIds(const Tokenizer& tokenizer, const TokenizerSpec& spec, std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer.Encode(text, Specials::kParse));
  PutBosInFront(spec, ids);
  return ids;
}

Result<std::vector<TokenId>> EmbeddingIds(const Tokenizer& tokenizer, const TokenizerSpec& spec, std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer.Encode(text, Specials::kAsText));
  if (spec.add_bos && spec.bos) ids.insert(ids.begin(), *spec.bos);
  if (spec.add_eos && spec.eos) ids.push_back(*spec.eos);
  return ids;
}

RenderOptions RenderOptionsFor(const Tokenizer& tokenizer, const TokenizerSpec& spec) {
  RenderOptions options;
  if (spec.bos) options.bos_token = tokenizer.Piece(*spec.bos);
  if (spec.eos) options.eos_token = tokenizer.Piece(*spec.eos);
  return options;
}

ChatEncoder::ChatEncoder(const Tokenizer& tokenizer, const TokenizerSpec& spec, const ChatTemplate& chat_template)
    : tokenizer_(tokenizer), spec_(spec), template_(chat_template) {
  for (uint32_t id = 0; id < tokenizer.vocabulary(); ++id) {
    if (!tokenizer.IsControl(static_cast<TokenId>(id))) continue;
    const std::string piece(tokenizer.Piece(static_cast<TokenId>(id)));
    if (piece.size() < 2) continue;  // a mark behind its first byte would not break it
    controls_.emplace_back(piece, static_cast<TokenId>(id));
    first_bytes_[static_cast<unsigned char>(piece.front())] = true;
    control_bytes_max_ = std::max(control_bytes_max_, piece.size());
  }
  std::sort(controls_.begin(), controls_.end());
}

size_t ChatEncoder::ControlBytesAt(std::string_view text, size_t at) const {
  if (!first_bytes_[static_cast<unsigned char>(text[at])]) return 0;
  const size_t most = std::min(control_bytes_max_, text.size() - at);
  for (size_t bytes = most; bytes > 0; --bytes) {
    const std::string_view piece = text.substr(at, bytes);
    const auto found = std::lower_bound(controls_.begin(), controls_.end(), piece,
                                        [](const auto& control, std::string_view wanted) { return control.first < wanted; });
    if (found != controls_.end() && found->first == piece) return bytes;
  }
  return 0;
}

bool ChatEncoder::HoldsControl(std::string_view text) const {
  for (size_t at = 0; at < text.size(); ++at)
    if (ControlBytesAt(text, at) > 0) return true;
  return false;
}

std::string ChatEncoder::Marked(std::string_view text, std::string_view mark) const {
  std::string marked;
  for (size_t at = 0; at < text.size(); ++at) {
    marked += text[at];
    if (ControlBytesAt(text, at) > 0) marked += mark;
  }
  return marked;
}

Result<std::vector<TokenId>> ChatEncoder::Encode(std::vector<ChatMessage> messages,
                                                 const RenderOptions& options) const {
  const bool holds = HoldsControl(options.tools_json) ||
                     std::any_of(messages.begin(), messages.end(), [&](const ChatMessage& message) {
                       return HoldsControl(message.content) || HoldsControl(message.extra_json);
                     });
  if (!holds) {
    ASSIGN_OR_RETURN(const std::string rendered, template_.Render(messages, options));
    return PromptIds(tokenizer_, spec_, rendered);
  }
  const std::string mark = FreeMark(messages, options.tools_json);
  if (mark.empty()) {
    return Error{ErrorCode::kInvalidArgument, "messages: they hold control tokens as text and every noncharacter from "
                                              "U+FDD0 to U+FDEF"};
  }
  // A mark behind the first character of each: the template's own control tokens stay the only whole ones.
  for (ChatMessage& message : messages) {
    message.content = Marked(message.content, mark);
    message.extra_json = Marked(message.extra_json, mark);
  }
  RenderOptions marked = options;
  marked.tools_json = Marked(options.tools_json, mark);
  ASSIGN_OR_RETURN(const std::string rendered, template_.Render(messages, marked));
  return EncodeMarked(rendered, mark);
}

// Cuts at the template's control tokens; what lies between is text without exception.
Result<std::vector<TokenId>> ChatEncoder::EncodeMarked(std::string_view rendered, std::string_view mark) const {
  std::vector<TokenId> ids;
  std::string run;
  const auto flush = [&]() -> Status {
    if (run.empty()) return {};
    ASSIGN_OR_RETURN(const std::vector<TokenId> more, tokenizer_.Encode(run, Specials::kAsText));
    ids.insert(ids.end(), more.begin(), more.end());
    run.clear();
    return {};
  };
  for (size_t at = 0; at < rendered.size();) {
    const size_t bytes = ControlBytesAt(rendered, at);
    if (bytes > 0) {
      RETURN_IF_ERROR(flush());
      const std::string_view piece = rendered.substr(at, bytes);
      const auto found = std::lower_bound(
          controls_.begin(), controls_.end(), piece,
          [](const auto& control, std::string_view wanted) { return control.first < wanted; });
      ids.push_back(found->second);
      at += bytes;
    } else if (rendered.substr(at).starts_with(mark)) {
      at += mark.size();
    } else {
      run += rendered[at++];
    }
  }
  RETURN_IF_ERROR(flush());
  PutBosInFront(spec_, ids);
  return ids;
}

}  // namespace samebit::text
