#include "text/tools/tool_syntax.h"

#include <array>

namespace samebit::text {
namespace {

std::array<const ToolSyntax*, 3> All() { return {&HermesSyntax(), &Llama3JsonSyntax(), &GemmaSyntax()}; }

bool Holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

const ToolSyntax* FindToolSyntax(std::string_view name) {
  for (const ToolSyntax* syntax : All())
    if (name == syntax->name()) return syntax;
  return nullptr;
}

const ToolSyntax* ToolSyntaxShownBy(std::string_view chat_template) {
  const ToolSyntax* shown = nullptr;
  for (const ToolSyntax* syntax : All()) {
    if (!syntax->ShowsIn(chat_template)) continue;
    if (shown != nullptr) return nullptr;
    shown = syntax;
  }
  return shown;
}

std::string ToolSyntaxNames() {
  std::string names;
  for (const ToolSyntax* syntax : All()) names += (names.empty() ? "" : ", ") + std::string(syntax->name());
  return names;
}

ToolTemplate ReadToolTemplate(std::string_view chat_template) {
  ToolTemplate found;
  found.tells_tools = Holds(chat_template, "tools");
  found.tells_calls = Holds(chat_template, "tool_calls");
  // "<|im_start|>' + message['role']": whatever role there is, is written.
  const bool writes_any_role = Holds(chat_template, "+ message['role']") || Holds(chat_template, "+ message.role");
  found.tells_results = writes_any_role || Holds(chat_template, "'tool'") || Holds(chat_template, "\"tool\"");
  return found;
}

void AddToolEvent(ToolEvent::Kind kind, std::string_view text, std::vector<ToolEvent>& events) {
  if (text.empty() && kind != ToolEvent::Kind::kCall) return;
  if (kind != ToolEvent::Kind::kCall && !events.empty() && events.back().kind == kind)
    events.back().text += text;
  else
    events.push_back({kind, std::string(text)});
}

std::string CallObjectRules(const ToolGrammar& grammar, std::string_view key) {
  std::string rules = "tool:";
  for (size_t i = 0; i < grammar.names.size(); ++i) rules += (i == 0 ? " tool" : " | tool") + std::to_string(i);
  rules += '\n';
  for (size_t i = 0; i < grammar.names.size(); ++i) {
    const std::string number = std::to_string(i);
    rules += "tool" + number + ": \"{\\\"name\\\": \\\"" + grammar.names[i] + "\\\", \\\"" + std::string(key) +
             "\\\": \" @schema" + number + " \"}\"\n";
  }
  return rules;
}

}  // namespace samebit::text
