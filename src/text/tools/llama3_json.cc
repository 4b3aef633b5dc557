// The whole answer is one call, {"name": "f", "parameters": {...}}, or several with ";" between them: Llama 3.1 and 3.2.
// An answer that does not begin with "{" is text.
#include "text/tools/call_object.h"

namespace samebit::text {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

class Llama3JsonParser final : public ToolCallParser {
 public:
  void Push(std::string_view text, std::vector<ToolEvent>& events) override {
    for (const char byte : text) PushByte(byte, events);
  }

  void Finish(std::vector<ToolEvent>& events) override {
    if (place_ == Place::kObject && !object_.begun()) held_ += object_.raw();
    if (place_ != Place::kAfterCall || held_.find_first_not_of(kSpaces) != std::string::npos) Text(held_, events);
    held_.clear();
  }

 private:
  enum class Place { kStart, kObject, kAfterCall, kText };

  static void Text(std::string_view text, std::vector<ToolEvent>& events) {
    AddToolEvent(ToolEvent::Kind::kText, text, events);
  }

  void PushByte(char byte, std::vector<ToolEvent>& events) {
    switch (place_) {
      case Place::kStart:
      case Place::kAfterCall:
        if (byte == '{') {
          object_ = CallObject();
          object_.Push(byte, events);
          place_ = Place::kObject;
        } else if (kSpaces.find(byte) != std::string_view::npos || (byte == ';' && place_ == Place::kAfterCall)) {
          held_ += byte;
        } else {
          held_ += byte;
          ToText(events);
        }
        break;
      case Place::kObject:
        if (!object_.Push(byte, events)) {
          held_ += object_.raw();
          ToText(events);
        } else if (object_.done()) {
          held_.clear();
          place_ = Place::kAfterCall;
        }
        break;
      case Place::kText:
        Text(std::string_view(&byte, 1), events);
        break;
    }
  }

  void ToText(std::vector<ToolEvent>& events) {
    Text(held_, events);
    held_.clear();
    place_ = Place::kText;
  }

  Place place_ = Place::kStart;
  std::string held_;  // between calls
  CallObject object_;
};

class Llama3Json final : public ToolSyntax {
 public:
  const char* name() const override { return "llama3_json"; }

  bool ShowsIn(std::string_view chat_template) const override {
    return chat_template.find("\"parameters\": dictionary of argument name") != std::string_view::npos ||
           chat_template.find("\\\"parameters\\\": dictionary of argument name") != std::string_view::npos;
  }

  std::unique_ptr<ToolCallParser> NewParser() const override { return std::make_unique<Llama3JsonParser>(); }

  // One call: the template of these models renders no more.
  std::string Lark(const ToolGrammar& grammar) const override {
    std::string rules = "start: tool\n";
    if (!grammar.must_call) rules = "start: tool | text\ntext: /[^{ \\t\\r\\n](?s:.*)/\n";
    return rules + CallObjectRules(grammar, "parameters");
  }
};

}  // namespace

const ToolSyntax& Llama3JsonSyntax() {
  static const Llama3Json syntax;
  return syntax;
}

}  // namespace samebit::text
