// How a model writes calls of tools: what its answers mean, and the grammar that makes it call one.
//
// Not for: how tools are told to the model (that is its chat template), OpenAI's JSON (openai/).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samebit::text {

struct ToolEvent {
  enum class Kind { kText, kCall, kArguments };
  Kind kind = Kind::kText;
  std::string text;  // kText: of the answer; kCall: the name of the tool; kArguments: more of the last call's JSON
  bool operator==(const ToolEvent&) const = default;
};

// One answer as it grows. Events are the same for any cut of the text, but for how a run of text or of arguments is
// divided. A call that turns out to be none before its name and its arguments' beginning are there is text; after that it
// is a call, whatever follows: then its arguments may be no JSON, as with OpenAI.
class ToolCallParser {
 public:
  virtual ~ToolCallParser() = default;
  virtual void Push(std::string_view text, std::vector<ToolEvent>& events) = 0;
  virtual void Finish(std::vector<ToolEvent>& events) = 0;
};

struct ToolGrammar {
  std::vector<std::string> names;  // letters, digits, underscores, dashes; tool i's arguments are @schema<i>
  bool must_call = false;          // else text without a call is let through too
  bool several = true;             // more than one call
};

// Immutable, lives for ever.
class ToolSyntax {
 public:
  virtual ~ToolSyntax() = default;
  virtual const char* name() const = 0;
  // Whether a chat template (its source) tells the model to write so.
  virtual bool ShowsIn(std::string_view chat_template) const = 0;
  virtual std::unique_ptr<ToolCallParser> NewParser() const = 0;
  // In llguidance's Lark dialect; "": this syntax is not JSON, and no grammar can be made of a JSON schema for it.
  virtual std::string Lark(const ToolGrammar& grammar) const = 0;
};

// nullptr: there is none of this name.
const ToolSyntax* FindToolSyntax(std::string_view name);
// The one that a chat template shows; nullptr: none, or more than one.
const ToolSyntax* ToolSyntaxShownBy(std::string_view chat_template);
// "hermes, llama3_json, gemma".
std::string ToolSyntaxNames();

// What a chat template does with tools, by the words in its source.
struct ToolTemplate {
  bool tells_tools = false;    // "tools": the model is told which there are
  bool tells_calls = false;    // "tool_calls": an assistant's earlier calls are rendered
  bool tells_results = false;  // "tool" as a role, or any role as it comes
};
ToolTemplate ReadToolTemplate(std::string_view chat_template);

// Each in its own file.
const ToolSyntax& HermesSyntax();
const ToolSyntax& Llama3JsonSyntax();
const ToolSyntax& GemmaSyntax();

// For the syntaxes: appends to the last event where it is of the same kind.
void AddToolEvent(ToolEvent::Kind kind, std::string_view text, std::vector<ToolEvent>& events);
// The rules tool, tool0, tool1, ... : {"name": "<name>", "<key>": @schema0}.
std::string CallObjectRules(const ToolGrammar& grammar, std::string_view key);

}  // namespace samebit::text
