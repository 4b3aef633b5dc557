#include "server/tool_calls.h"

#include "base/digest.h"

namespace samebit::server {
namespace {

using openai::ApiError;
using Choice = openai::ToolRequest::Choice;

void AddWord(std::string& text, uint32_t word) {
  for (int i = 0; i < 4; ++i) text += static_cast<char>(word >> (8 * i) & 0xff);
}

std::string CallId(const std::string& seed, uint32_t choice, uint32_t call) {
  std::string text = seed;
  AddWord(text, choice);
  AddWord(text, call);
  return "call_" + Sha256::Of(text).hex().substr(0, 24);
}

// Which of the request's tools a grammar is made of, and of what.
struct Compiled {
  text::ToolGrammar grammar;
  text::GrammarSource source;
  std::vector<size_t> tool_indices;
};

Compiled ToCompile(const openai::ToolRequest& request, const text::ToolSyntax& syntax) {
  Compiled out;
  out.grammar.must_call = request.choice != Choice::kAuto;
  out.grammar.several = request.several && request.choice != Choice::kNamed;
  for (size_t i = 0; i < request.tools.size(); ++i) {
    const openai::Tool& tool = request.tools[i];
    if (request.choice == Choice::kNamed && tool.name != request.named) continue;
    out.grammar.names.push_back(tool.name);
    const bool binds = tool.strict || out.grammar.must_call;
    out.source.schemas.push_back(binds ? tool.parameters_json : R"({"type":"object"})");
    out.tool_indices.push_back(i);
  }
  out.source.lark = syntax.Lark(out.grammar);
  return out;
}

}  // namespace

std::optional<ApiError> CheckToolMessages(const std::vector<openai::ChatMessage>& messages, const ServedModel& model) {
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string path = "messages[" + std::to_string(i) + "]";
    if (messages[i].has_calls && !model.tool_template.tells_calls) {
      return openai::Unsupported(path + ".tool_calls",
                                 path + ".tool_calls: this model's chat template does not render them");
    }
    if (messages[i].role == "tool" && !model.tool_template.tells_results)
      return openai::Unsupported(path + ".role", path + ".role: this model's chat template knows no role \"tool\"");
  }
  return std::nullopt;
}

std::optional<ApiError> PlanTools(const openai::ToolRequest& request, const ServedModel& model, ToolPlan& plan,
                                  AnswerForm& form) {
  if (request.choice == Choice::kNone) return std::nullopt;
  if (!model.tool_template.tells_tools)
    return openai::Unsupported("tools", "tools: this model's chat template does not tell the model about tools");
  if (model.tool_syntax == nullptr) {
    return openai::Unsupported("tools", "tools: the chat template shows no syntax of calls that is known here; the "
                                        "server can be started with --tool-syntax (" +
                                            text::ToolSyntaxNames() + ")");
  }
  plan.syntax = model.tool_syntax;
  form.sha256 = FormDigest(request.canonical_json + "\n" + plan.syntax->name());
  bool needs_grammar = request.choice != Choice::kAuto;
  for (const openai::Tool& tool : request.tools) needs_grammar |= tool.strict;
  if (!needs_grammar) return std::nullopt;
  const Compiled compiled = ToCompile(request, *plan.syntax);
  if (compiled.source.lark.empty()) {
    const char* param = request.choice == Choice::kAuto ? "tools" : "tool_choice";
    return openai::Unsupported(param, std::string(param) + ": the syntax " + plan.syntax->name() +
                                          " is not JSON, so a call cannot be forced and arguments cannot be strict; "
                                          "with a template that asks for JSON the server can be started with --tool-syntax hermes");
  }
  text::SchemaError why;
  form.grammar = model.grammars->Compile(compiled.source, why);
  if (form.grammar != nullptr) return std::nullopt;
  const size_t tool = compiled.tool_indices[std::min(why.schema_index, compiled.tool_indices.size() - 1)];
  return SchemaRefused(why, "tools[" + std::to_string(tool) + "].function.parameters");
}

std::string CallIdSeed(const std::string& semantic_sha256, const std::vector<TokenId>& prompt) {
  std::string text = semantic_sha256;
  for (const TokenId id : prompt) AddWord(text, static_cast<uint32_t>(id));
  return Sha256::Of(text).hex();
}

AnswerReader::AnswerReader(const ToolPlan& plan, uint32_t choice)
    : parser_(plan.syntax != nullptr ? plan.syntax->NewParser() : nullptr), id_seed_(plan.id_seed), choice_(choice) {}

AnswerReader::Piece AnswerReader::Push(std::string_view text) {
  if (parser_ == nullptr) return {std::string(text), {}};
  std::vector<text::ToolEvent> events;
  parser_->Push(text, events);
  return Take(events);
}

AnswerReader::Piece AnswerReader::Finish() {
  if (parser_ == nullptr) return {};
  std::vector<text::ToolEvent> events;
  parser_->Finish(events);
  return Take(events);
}

AnswerReader::Piece AnswerReader::Take(const std::vector<text::ToolEvent>& events) {
  Piece piece;
  for (const text::ToolEvent& event : events) {
    if (event.kind == text::ToolEvent::Kind::kText) {
      piece.content += event.text;
    } else if (event.kind == text::ToolEvent::Kind::kCall) {
      piece.calls.push_back({calls_, CallId(id_seed_, choice_, calls_), event.text, ""});
      ++calls_;
    } else {
      if (piece.calls.empty()) piece.calls.push_back({calls_ - 1, "", "", ""});
      piece.calls.back().arguments += event.text;
    }
  }
  return piece;
}

}  // namespace samebit::server
