#include "cli/prompt_lint.h"

#include <algorithm>
#include <charconv>

#include "base/json_reader.h"
#include "text/prompt_template.h"

namespace samebit::cli {
namespace {

const YamlNode* NodeAt(const YamlNode* node, const std::string& key) { return node == nullptr ? nullptr : node->Find(key); }

void AddText(std::vector<PromptText>& texts, const YamlNode* node, bool is_template, bool is_instruction) {
  if (node == nullptr || node->kind != YamlNode::Kind::kText) return;
  std::string text = node->text;
  if (text.ends_with('\n')) text.pop_back();
  texts.push_back({node, std::move(text), is_template, is_instruction});
}

template <class T>
bool IsNumber(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// What is wrong with an answer of this format; "" where nothing is.
std::string Misfit(const PromptOutput& output, const std::string& answer) {
  switch (output.format) {
    case PromptFormat::kText:
      return "";
    case PromptFormat::kLine:
      return answer.find('\n') == std::string::npos ? "" : "it has more than one line";
    case PromptFormat::kChoice:
      return std::find(output.choices.begin(), output.choices.end(), answer) != output.choices.end()
                 ? ""
                 : "it is none of the choices";
    case PromptFormat::kInteger:
      return IsNumber<int64_t>(answer) ? "" : "it is no whole number";
    case PromptFormat::kNumber:
      return IsNumber<double>(answer) ? "" : "it is no number";
    case PromptFormat::kJson:
      break;
  }
  const auto value = ReadJson(answer, "the answer");
  if (!value.ok()) return "it is no JSON";
  if (output.keys.empty()) return "";
  if (!value->is_object()) return "it is no object";
  for (const std::string& key : output.keys)
    if (!value->get_object().contains(key)) return "it lacks the key \"" + key + "\"";
  return value->get_object().size() == output.keys.size() ? "" : "it has keys that are not declared";
}

// Values at one end of what the variables allow: what renders with both ends is not broken in an obvious way.
PromptValues ValuesAtEnd(const std::vector<PromptVariable>& variables, bool high) {
  PromptValues values;
  for (const PromptVariable& variable : variables) {
    switch (variable.type) {
      case PromptVariableType::kString:
        values.emplace_back(variable.name, std::string(high ? std::min<uint32_t>(variable.length_max, 100) : 0, 'x'));
        break;
      case PromptVariableType::kInteger:
        values.emplace_back(variable.name, high ? variable.integer_max : variable.integer_min);
        break;
      case PromptVariableType::kNumber:
        values.emplace_back(variable.name, high ? variable.number_max : variable.number_min);
        break;
      case PromptVariableType::kBoolean:
        values.emplace_back(variable.name, high);
        break;
      case PromptVariableType::kEnum:
        values.emplace_back(variable.name, high ? variable.choices.back() : variable.choices.front());
        break;
    }
  }
  return values;
}

void LintRendering(const PromptFile& file, std::vector<PromptFinding>& out) {
  const auto renderer = text::PromptRenderer::Make(file.prompt);
  if (!renderer.ok()) {
    out.push_back({file.path, 1, "syntax", renderer.error().message, "correct it"});
    return;
  }
  const YamlNode* variables = file.tree.Find("variables");
  for (const std::string& name : (*renderer)->unused()) {
    const YamlNode* node = NodeAt(variables, name);
    out.push_back({file.path, node != nullptr ? node->line : 1, "unused-variable",
                   "no text asks for '" + name + "': whoever gives it believes that it matters", "use it or take it out"});
  }
  for (const bool high : {false, true}) {
    const auto rendered = (*renderer)->Render(ValuesAtEnd(file.prompt.variables, high));
    if (const auto* problem = std::get_if<text::PromptProblem>(&rendered)) {
      const YamlNode* node = file.tree.Find(problem->error.message.starts_with("system") ? "system" : "user");
      out.push_back({file.path, node != nullptr ? node->line : 1, "does-not-render", problem->error.message,
                     "correct the text, or narrow the variables"});
      return;
    }
  }
}

}  // namespace

std::vector<PromptText> PromptTextsOf(const PromptFile& file) {
  std::vector<PromptText> texts;
  AddText(texts, file.tree.Find("system"), true, true);
  AddText(texts, NodeAt(file.tree.Find("output"), "instruction"), false, true);
  for (const char* key : {"examples", "negative_examples"}) {
    const YamlNode* examples = file.tree.Find(key);
    if (examples == nullptr) continue;
    for (const YamlNode& example : examples->list)
      for (const char* part : {"user", "assistant", "why"}) AddText(texts, example.Find(part), false, false);
  }
  AddText(texts, file.tree.Find("user"), true, true);
  return texts;
}

void LintExamples(const PromptFile& file, std::vector<PromptFinding>& out) {
  const std::vector<PromptExample>& examples = file.prompt.examples;
  const YamlNode* nodes = file.tree.Find("examples");
  const auto line_of = [&](const YamlNode* list, size_t i) {
    const YamlNode* answer = list != nullptr && i < list->list.size() ? list->list[i].Find("assistant") : nullptr;
    return answer != nullptr ? answer->line : 1;
  };
  for (size_t i = 0; i < examples.size(); ++i) {
    if (file.prompt.output) {
      const std::string misfit = Misfit(*file.prompt.output, examples[i].assistant);
      if (!misfit.empty())
        out.push_back({file.path, line_of(nodes, i), "example-contradicts-format",
                       "the answer of example " + std::to_string(i + 1) + " is not of the declared format: " + misfit,
                       "correct the answer or the format: a model follows examples more than words"});
    }
    for (size_t j = 0; j < i; ++j) {
      if (examples[i].user == examples[j].user)
        out.push_back({file.path, line_of(nodes, i), "examples-disagree",
                       "examples " + std::to_string(j + 1) + " and " + std::to_string(i + 1) + " ask the same" +
                           (examples[i].assistant == examples[j].assistant ? "" : " and answer differently"),
                       "keep one of them"});
    }
  }
  const std::vector<PromptExample>& wrong = file.prompt.negative_examples;
  for (size_t i = 0; i < wrong.size(); ++i) {
    const bool is_right = std::any_of(examples.begin(), examples.end(), [&](const PromptExample& example) {
      return example.user == wrong[i].user && example.assistant == wrong[i].assistant;
    });
    if (is_right)
      out.push_back({file.path, line_of(file.tree.Find("negative_examples"), i), "examples-disagree",
                     "negative example " + std::to_string(i + 1) + " is an example as well", "keep one of them"});
  }
}

std::vector<PromptFinding> LintPrompt(const PromptFile& file) {
  std::vector<PromptFinding> out = file.problems;
  const std::vector<PromptText> texts = PromptTextsOf(file);
  for (const PromptText& text : texts) {
    LintCode(file, text, out);
    LintWords(file, text, out);
  }
  LintContradictions(file, texts, out);
  LintExamples(file, out);
  if (!file.tree.Find("output"))
    out.push_back({file.path, file.tree.line, "no-output-format", "it does not say what an answer looks like, so every model decides anew",
                   "add `output:` with a format and an instruction"});
  // A file with problems of its own has no template to try.
  if (file.problems.empty()) LintRendering(file, out);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  const auto same = [](const auto& a, const auto& b) { return a.line == b.line && a.rule == b.rule && a.why == b.why; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

}  // namespace samebit::cli
