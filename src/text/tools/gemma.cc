// <start_function_call>call:f{city:<escape>Paris<escape>,days:3}<end_function_call>, as FunctionGemma writes it. Keys are
// bare, texts stand between <escape>, lists in brackets, objects in braces; the arguments become JSON here.
#include <algorithm>

#include "base/json_writer.h"
#include "text/tools/tool_syntax.h"

namespace samebit::text {
namespace {

constexpr std::string_view kOpen = "<start_function_call>call:";
constexpr std::string_view kClose = "<end_function_call>";
constexpr std::string_view kEscape = "<escape>";
constexpr size_t kNameBytesMax = 256;

// Where a text's beginning may lie that is the end of `text`: as many bytes as must be held back.
size_t HeldBytes(std::string_view text, std::string_view tag) {
  for (size_t size = std::min(text.size(), tag.size() - 1); size > 0; --size)
    if (tag.starts_with(text.substr(text.size() - size))) return size;
  return 0;
}

// A text between quotes, without the quotes: pieces of it can be put together.
std::string Escaped(std::string_view text) {
  const std::string quoted = JsonQuoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

class GemmaParser final : public ToolCallParser {
 public:
  void Push(std::string_view text, std::vector<ToolEvent>& events) override {
    for (const char byte : text) PushByte(byte, events);
  }

  void Finish(std::vector<ToolEvent>& events) override {
    if (place_ == Place::kText || place_ == Place::kAfter) Text(held_, events);
    if (place_ == Place::kName) Text(std::string(kOpen) + held_, events);
    if (place_ == Place::kString) Json(Escaped(held_), events);
    held_.clear();
  }

 private:
  enum class Place { kText, kName, kArguments, kString, kAfter };

  static void Text(std::string_view text, std::vector<ToolEvent>& events) {
    AddToolEvent(ToolEvent::Kind::kText, text, events);
  }
  static void Json(std::string_view text, std::vector<ToolEvent>& events) {
    AddToolEvent(ToolEvent::Kind::kArguments, text, events);
  }

  void PushByte(char byte, std::vector<ToolEvent>& events) {
    held_ += byte;
    switch (place_) {
      case Place::kText:
        if (held_.ends_with(kOpen)) {
          Go(Place::kName);
        } else {
          Release(HeldBytes(held_, kOpen), events);
        }
        break;
      case Place::kName:
        if (byte == '{') {
          AddToolEvent(ToolEvent::Kind::kCall, held_.substr(0, held_.size() - 1), events);
          Json("{", events);
          depth_.assign(1, '}');
          Go(Place::kArguments);
        } else if (held_.size() > kNameBytesMax || byte == '<' || byte == '\n') {
          Text(std::string(kOpen) + held_, events);
          Go(Place::kText);
        }
        break;
      case Place::kArguments:
        PushArguments(byte, events);
        break;
      case Place::kString:
        if (held_.ends_with(kEscape)) {
          Json("\"", events);
          Go(Place::kArguments);
        } else {
          // Up to the character that begins here: a half one would not be escaped as what it is.
          if ((static_cast<unsigned char>(byte) & 0xC0) == 0x80) break;
          const size_t kept = std::max<size_t>(HeldBytes(held_, kEscape), 1);
          Json(Escaped(std::string_view(held_).substr(0, held_.size() - kept)), events);
          held_.erase(0, held_.size() - kept);
        }
        break;
      case Place::kAfter:
        if (held_ == kClose) {
          Go(Place::kText);
        } else if (!kClose.starts_with(held_)) {
          place_ = Place::kText;
          Release(HeldBytes(held_, kOpen), events);
        }
        break;
    }
  }

  // Everything but the last bytes.
  void Release(size_t kept, std::vector<ToolEvent>& events) {
    Text(std::string_view(held_).substr(0, held_.size() - kept), events);
    held_.erase(0, held_.size() - kept);
  }

  // held_ is a key, a number or a word so far.
  void PushArguments(char byte, std::vector<ToolEvent>& events) {
    if (held_ == kEscape) {
      Json("\"", events);
      Go(Place::kString);
      return;
    }
    if (kEscape.starts_with(held_)) return;
    const bool closes = !depth_.empty() && byte == depth_.back();
    if (byte != '{' && byte != '[' && byte != ',' && byte != ':' && !closes) return;
    const std::string word = held_.substr(0, held_.size() - 1);
    if (byte == ':')
      Json(JsonQuoted(Trimmed(word)), events);
    else
      Json(Trimmed(word), events);
    Json(std::string_view(&byte, 1), events);
    held_.clear();
    if (byte == '{') depth_ += '}';
    if (byte == '[') depth_ += ']';
    if (closes) depth_.pop_back();
    if (depth_.empty()) Go(Place::kAfter);
  }

  static std::string Trimmed(const std::string& word) {
    const size_t begin = word.find_first_not_of(" \n\t");
    if (begin == std::string::npos) return "";
    return word.substr(begin, word.find_last_not_of(" \n\t") - begin + 1);
  }

  void Go(Place place) {
    held_.clear();
    place_ = place;
  }

  Place place_ = Place::kText;
  std::string held_;
  std::string depth_;  // the brackets that are open, as what closes them
};

class Gemma final : public ToolSyntax {
 public:
  const char* name() const override { return "gemma"; }
  bool ShowsIn(std::string_view chat_template) const override {
    return chat_template.find("<start_function_call>") != std::string_view::npos;
  }
  std::unique_ptr<ToolCallParser> NewParser() const override { return std::make_unique<GemmaParser>(); }
  std::string Lark(const ToolGrammar&) const override { return ""; }
};

}  // namespace

const ToolSyntax& GemmaSyntax() {
  static const Gemma syntax;
  return syntax;
}

}  // namespace samebit::text
