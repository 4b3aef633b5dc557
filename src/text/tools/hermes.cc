// <tool_call>
// {"name": "f", "arguments": {...}}
// </tool_call>
// as the models of Nous Research began it and Qwen, SmolLM3 and others write it; any number of calls, text between them.
#include <algorithm>

#include "text/tools/call_object.h"

namespace samebit::text {
namespace {

constexpr std::string_view kOpen = "<tool_call>";
constexpr std::string_view kClose = "</tool_call>";
constexpr std::string_view kSpaces = " \t\r\n";
// Whitespace before a call belongs to it; so much may be waited for.
constexpr size_t kHeldSpacesMax = 256;

bool IsSpace(char c) { return kSpaces.find(c) != std::string_view::npos; }

// Whether it is whitespace and then the beginning of the tag.
bool MayBecome(std::string_view text, std::string_view tag) {
  const size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  return begin <= kHeldSpacesMax && tag.starts_with(text.substr(begin));
}

bool EndsWith(std::string_view text, std::string_view tag) { return text.ends_with(tag); }

class HermesParser final : public ToolCallParser {
 public:
  void Push(std::string_view text, std::vector<ToolEvent>& events) override {
    for (const char byte : text) PushByte(byte, events);
  }

  void Finish(std::vector<ToolEvent>& events) override {
    switch (place_) {
      case Place::kText:
        if (!called_ || held_.find_first_not_of(kSpaces) != std::string::npos) Text(held_, events);
        break;
      case Place::kBeforeObject:
        Text(held_, events);
        break;
      case Place::kObject:
        if (!object_.begun()) Text(held_ + object_.raw(), events);
        break;
      case Place::kAfterObject:
        break;  // a call that was cut off before its end
    }
    held_.clear();
  }

 private:
  enum class Place { kText, kBeforeObject, kObject, kAfterObject };

  static void Text(std::string_view text, std::vector<ToolEvent>& events) {
    AddToolEvent(ToolEvent::Kind::kText, text, events);
  }

  void PushByte(char byte, std::vector<ToolEvent>& events) {
    switch (place_) {
      case Place::kText:
        PushText(byte, events);
        break;
      case Place::kBeforeObject:
        if (IsSpace(byte) && held_.size() < kHeldSpacesMax + kOpen.size()) {
          held_ += byte;
        } else if (byte == '{') {
          object_ = CallObject();
          object_.Push(byte, events);
          place_ = Place::kObject;
        } else {
          NoCall("", events);
          PushText(byte, events);
        }
        break;
      case Place::kObject:
        if (!object_.Push(byte, events)) {
          NoCall(object_.raw(), events);
        } else if (object_.done()) {
          called_ = true;
          held_.clear();
          place_ = Place::kAfterObject;
        }
        break;
      case Place::kAfterObject:
        held_ += byte;
        if (MayBecome(held_, kClose)) {
          if (EndsWith(held_, kClose)) BackToText();
        } else {
          const std::string rest = held_;
          BackToText();
          Push(rest, events);
        }
        break;
    }
  }

  void PushText(char byte, std::vector<ToolEvent>& events) {
    held_ += byte;
    size_t out = 0;
    while (out < held_.size() && !MayBecome(std::string_view(held_).substr(out), kOpen)) ++out;
    Text(std::string_view(held_).substr(0, out), events);
    held_.erase(0, out);
    if (EndsWith(held_, kOpen)) place_ = Place::kBeforeObject;
  }

  void NoCall(const std::string& more, std::vector<ToolEvent>& events) {
    Text(held_ + more, events);
    BackToText();
  }

  void BackToText() {
    held_.clear();
    place_ = Place::kText;
  }

  Place place_ = Place::kText;
  std::string held_;  // what may still turn out to be a tag, or is one
  CallObject object_;
  bool called_ = false;
};

class Hermes final : public ToolSyntax {
 public:
  const char* name() const override { return "hermes"; }

  bool ShowsIn(std::string_view chat_template) const override {
    // Others put XML between the same tags ("<function=f>").
    return chat_template.find(kOpen) != std::string_view::npos &&
           chat_template.find("arguments") != std::string_view::npos &&
           chat_template.find("<function=") == std::string_view::npos;
  }

  std::unique_ptr<ToolCallParser> NewParser() const override { return std::make_unique<HermesParser>(); }

  std::string Lark(const ToolGrammar& grammar) const override {
    std::string rules;
    if (grammar.must_call) {
      rules = grammar.several ? "start: call (\"\\n\" call)*\n" : "start: call\n";
      rules += "call: \"<tool_call>\\n\" body\n";
    } else {
      // A lazy rule ends at the first tag; the other one never holds a tag.
      rules = grammar.several ? "start: called* REST?\n" : "start: REST | called\n";
      rules += "called: before body\n";
      rules += "before[lazy]: /(?s:.*)<tool_call>\\n/\n";
      rules += "REST: /(?s:.+)/ & ~/(?s:.*)<tool_call>(?s:.*)/\n";
    }
    return rules + "body: tool \"\\n</tool_call>\"\n" + CallObjectRules(grammar, "arguments");
  }
};

}  // namespace

const ToolSyntax& HermesSyntax() {
  static const Hermes syntax;
  return syntax;
}

}  // namespace samebit::text
