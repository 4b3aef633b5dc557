// `variables:` of a prompt template's file. Every variable is bounded: what may be in a prompt is part of its version.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/limits.h"
#include "cli/prompt_fields.h"

namespace samebit::cli {
namespace {

constexpr std::pair<const char*, PromptVariableType> kTypes[] = {{"string", PromptVariableType::kString},
                                                                 {"integer", PromptVariableType::kInteger},
                                                                 {"number", PromptVariableType::kNumber},
                                                                 {"boolean", PromptVariableType::kBoolean},
                                                                 {"enum", PromptVariableType::kEnum}};

// Words of the template language, and its functions.
constexpr const char* kReserved[] = {"true",  "false", "none", "True",      "False", "None", "not", "and", "or",
                                     "in",    "is",    "if",   "else",      "for",   "loop", "set", "self",
                                     "range", "namespace"};

bool IsIdentifier(const std::string& name) {
  static const std::string kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !name.empty() && name.size() <= limits::kPromptNameBytesMax && kLetters.find(name.front()) != std::string::npos &&
         name.find_first_not_of(kLetters + "0123456789") == std::string::npos &&
         std::find(std::begin(kReserved), std::end(kReserved), name) == std::end(kReserved);
}

template <class T>
std::optional<T> Parse(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

// A number that must be there.
template <class T>
T Needed(PromptFields& fields, const std::string& key, const char* what, T otherwise) {
  const std::string text = fields.Text(key, PromptFields::kRequired);
  if (text.empty()) return otherwise;
  const std::optional<T> value = Parse<T>(text);
  if (!value) fields.Problem(key, "schema", "expected " + std::string(what) + " for `" + key + "`", "write a number");
  return value.value_or(otherwise);
}

std::optional<PromptValue> ValueOfType(PromptVariableType type, const std::string& text) {
  switch (type) {
    case PromptVariableType::kString:
    case PromptVariableType::kEnum:
      return PromptValue(text);
    case PromptVariableType::kInteger:
      if (const auto whole = Parse<int64_t>(text)) return PromptValue(*whole);
      return std::nullopt;
    case PromptVariableType::kNumber:
      if (const auto number = Parse<double>(text)) return PromptValue(*number);
      return std::nullopt;
    case PromptVariableType::kBoolean:
      break;
  }
  if (text == "true" || text == "false") return PromptValue(text == "true");
  return std::nullopt;
}

void ReadBounds(PromptFields& fields, PromptVariable& variable) {
  switch (variable.type) {
    case PromptVariableType::kString:
      variable.length_max = Needed<uint32_t>(fields, "max_length", "a count of characters", 1);
      if (variable.length_max == 0 || variable.length_max > limits::kPromptTextCharactersMax)
        fields.Problem("max_length", "schema", "expected 1 to " + std::to_string(limits::kPromptTextCharactersMax) +
                                                   " characters", "choose how long the value may be");
      break;
    case PromptVariableType::kInteger:
      variable.integer_min = Needed<int64_t>(fields, "minimum", "a whole number", 0);
      variable.integer_max = Needed<int64_t>(fields, "maximum", "a whole number", 0);
      if (variable.integer_min > variable.integer_max)
        fields.Problem("minimum", "schema", "the minimum is over the maximum", "exchange them");
      break;
    case PromptVariableType::kNumber:
      variable.number_min = Needed<double>(fields, "minimum", "a number", 0);
      variable.number_max = Needed<double>(fields, "maximum", "a number", 0);
      if (variable.number_min > variable.number_max)
        fields.Problem("minimum", "schema", "the minimum is over the maximum", "exchange them");
      break;
    case PromptVariableType::kEnum:
      variable.choices = fields.Texts("values", limits::kPromptChoicesMax);
      if (variable.choices.empty()) fields.Problem("values", "schema", "an enum needs its `values`", "list them");
      break;
    case PromptVariableType::kBoolean:
      break;
  }
}

void ReadDefault(PromptFields& fields, PromptVariable& variable) {
  const bool has_default = fields.Has("default");
  const std::string required = fields.Text("required");
  if (!required.empty() && required != (has_default ? "false" : "true"))
    fields.Problem("required", "schema", "`required` is true where there is no `default`, and false where there is one",
                   "leave it out: `default` says it");
  variable.required = !has_default;
  if (!has_default) return;
  const std::string text = fields.Text("default");
  variable.default_value = ValueOfType(variable.type, text);
  if (!variable.default_value) {
    fields.Problem("default", "schema", "the default '" + text.substr(0, 64) + "' is not of the variable's type", "correct it");
    return;
  }
  const auto fitted = text::FillVariables({variable}, {{variable.name, *variable.default_value}});
  if (const auto* problem = std::get_if<text::PromptProblem>(&fitted))
    fields.Problem("default", "schema", "the default does not fit: " + problem->error.message, "correct it");
}

}  // namespace

std::vector<PromptVariable> ReadPromptVariables(PromptFields& fields) {
  std::vector<PromptVariable> variables;
  for (auto& [name, one] : fields.NamedMaps("variables", limits::kPromptVariablesMax)) {
    PromptVariable variable;
    variable.name = name;
    if (!IsIdentifier(name))
      one.Problem("", "schema", "'" + name.substr(0, 64) + "' cannot be the name of a variable",
                  "use letters, digits and _, a letter first, and no word of the template language");
    const std::string type = one.Text("type", PromptFields::kRequired);
    const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& row) { return type == row.first; });
    if (found == std::end(kTypes)) {
      one.Problem("type", "schema", "there is no type '" + type.substr(0, 64) + "'",
                  "use string, integer, number, boolean or enum");
      continue;
    }
    variable.type = found->second;
    variable.description = one.Text("description");
    ReadBounds(one, variable);
    ReadDefault(one, variable);
    one.RefuseOthers();
    variables.push_back(std::move(variable));
  }
  std::sort(variables.begin(), variables.end(),
            [](const PromptVariable& a, const PromptVariable& b) { return a.name < b.name; });
  return variables;
}

}  // namespace samebit::cli
