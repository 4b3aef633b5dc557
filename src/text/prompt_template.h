// A prompt template made into messages: [system] [examples, a user and an assistant turn each] [user].
//
// The texts are templates of the chat templates' interpreter, strict and within the same bounds: a name that is no
// variable is refused when the template is made. Values are data: never read as template, and because they end in
// messages, never as control tokens (text/prompt_ids.h).
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/prompt_template.h"
#include "base/result.h"
#include "text/chat_template.h"

namespace samebit::text {

// Why values do not fit. variable: empty where it is about none of them.
struct PromptProblem {
  std::string variable;
  Error error;
};

class PromptRenderer {
 public:
  // Failures: kMalformed (a text that does not parse, that asks for an unknown name), kTooLarge.
  static Result<std::unique_ptr<PromptRenderer>> Make(PromptTemplate prompt);
  ~PromptRenderer();

  const PromptTemplate& prompt() const { return prompt_; }

  // Any thread. Problems: kInvalidArgument (unknown, missing, wrong type, out of range, a text that fails on the
  // values), kTooLarge (bounds of the interpreter).
  std::variant<std::vector<ChatMessage>, PromptProblem> Render(const PromptValues& given) const;

  // The variables that no text asks for, by name.
  const std::vector<std::string>& unused() const { return unused_; }

 private:
  struct Texts;
  PromptRenderer(PromptTemplate prompt, std::unique_ptr<Texts> texts);

  const PromptTemplate prompt_;
  const std::unique_ptr<Texts> texts_;
  std::vector<std::string> unused_;
};

// The names in a text that it asks for and does not set itself, sorted; functions count, except those that every text
// may use. Failures: those of PromptRenderer::Make.
Result<std::vector<std::string>> NamesAskedFor(const std::string& source);

// The values that a text is rendered with: those given, checked against the variables, and the defaults.
std::variant<PromptValues, PromptProblem> FillVariables(const std::vector<PromptVariable>& variables,
                                                        const PromptValues& given);

}  // namespace samebit::text
