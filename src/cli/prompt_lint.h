// What makes a prompt unstable: a text that changes by itself, asks for two things at once, or leaves open what an answer
// looks like. docs/howto/prompt-templates.md lists the rules.
#pragma once

#include <string>
#include <vector>

#include "cli/prompt_file.h"

namespace samebit::cli {

// A text of the file that reaches the model.
struct PromptText {
  const YamlNode* node = nullptr;
  std::string text;
  bool is_template = false;     // holds code: system and user
  bool is_instruction = false;  // says what to do; the others show how it is done
};

// Everything, the file's own problems first among equals, by line.
std::vector<PromptFinding> LintPrompt(const PromptFile& file);

// The parts, each adding what it finds.
std::vector<PromptText> PromptTextsOf(const PromptFile& file);
void LintCode(const PromptFile& file, const PromptText& text, std::vector<PromptFinding>& out);
void LintWords(const PromptFile& file, const PromptText& text, std::vector<PromptFinding>& out);
void LintContradictions(const PromptFile& file, const std::vector<PromptText>& texts, std::vector<PromptFinding>& out);
void LintExamples(const PromptFile& file, std::vector<PromptFinding>& out);

}  // namespace samebit::cli
