// FillVariables: what a client gives against what a template asks for.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/decimal.h"
#include "text/prompt_template.h"

namespace samebit::text {
namespace {

std::string KindOf(const PromptValue& value) {
  if (std::holds_alternative<std::string>(value)) return "a string";
  if (std::holds_alternative<int64_t>(value)) return "a whole number";
  return std::holds_alternative<double>(value) ? "a number" : "a boolean";
}

// Beyond 2^53 a double stands for several whole numbers.
constexpr double kWholeMax = 9007199254740992.0;

size_t Characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xC0') != '\x80'; }));
}

// The value in the variable's type, or a sentence.
std::variant<PromptValue, std::string> Fit(const PromptVariable& variable, const PromptValue& value) {
  const std::string found = ", found " + KindOf(value);
  switch (variable.type) {
    case PromptVariableType::kString: {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) return "expected a string" + found;
      if (Characters(*text) > variable.length_max)
        return "expected at most " + std::to_string(variable.length_max) + " characters, found " +
               std::to_string(Characters(*text));
      return value;
    }
    case PromptVariableType::kInteger: {
      const auto* number = std::get_if<double>(&value);
      const auto* whole = std::get_if<int64_t>(&value);
      const bool is_whole = number != nullptr && std::trunc(*number) == *number && std::abs(*number) <= kWholeMax;
      if (whole == nullptr && !is_whole) return "expected a whole number" + found;
      const int64_t integer = whole != nullptr ? *whole : static_cast<int64_t>(*number);
      if (integer < variable.integer_min || integer > variable.integer_max)
        return "expected a whole number from " + std::to_string(variable.integer_min) + " to " +
               std::to_string(variable.integer_max) + ", found " + std::to_string(integer);
      return PromptValue(integer);
    }
    case PromptVariableType::kNumber: {
      const auto* whole = std::get_if<int64_t>(&value);
      const auto* given = std::get_if<double>(&value);
      if (whole == nullptr && given == nullptr) return "expected a number" + found;
      const double number = given != nullptr ? *given : static_cast<double>(*whole);
      if (!(number >= variable.number_min && number <= variable.number_max))
        return "expected a number from " + Decimal(variable.number_min) + " to " + Decimal(variable.number_max) +
               ", found " + Decimal(number);
      return PromptValue(number);
    }
    case PromptVariableType::kBoolean:
      if (!std::holds_alternative<bool>(value)) return "expected a boolean" + found;
      return value;
    case PromptVariableType::kEnum: {
      std::string list;
      for (const std::string& choice : variable.choices) list += (list.empty() ? "" : ", ") + choice;
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) return "expected one of " + list + found;
      if (std::find(variable.choices.begin(), variable.choices.end(), *text) == variable.choices.end())
        return "expected one of " + list + ", found '" + text->substr(0, 64) + "'";
      return value;
    }
  }
  return std::string("it has no type");
}

}  // namespace

std::variant<PromptValues, PromptProblem> FillVariables(const std::vector<PromptVariable>& variables,
                                                        const PromptValues& given) {
  const auto problem = [](const std::string& variable, const std::string& sentence) {
    return PromptProblem{variable, {ErrorCode::kInvalidArgument, sentence}};
  };
  for (const auto& [name, value] : given) {
    const bool is_known = std::any_of(variables.begin(), variables.end(),
                                      [&, &known = name](const PromptVariable& one) { return one.name == known; });
    if (is_known) continue;
    std::string list;
    for (const PromptVariable& one : variables) list += (list.empty() ? "" : ", ") + one.name;
    return problem(name, "the template has no such variable; it has " + (list.empty() ? "none" : list));
  }
  PromptValues filled;
  for (const PromptVariable& variable : variables) {
    const auto found = std::find_if(given.begin(), given.end(),
                                    [&](const auto& one) { return one.first == variable.name; });
    if (found == given.end()) {
      if (!variable.default_value) return problem(variable.name, "the template needs a value for it");
      filled.emplace_back(variable.name, *variable.default_value);
      continue;
    }
    auto fitted = Fit(variable, found->second);
    if (const auto* sentence = std::get_if<std::string>(&fitted)) return problem(variable.name, *sentence);
    filled.emplace_back(variable.name, std::get<PromptValue>(std::move(fitted)));
  }
  return filled;
}

}  // namespace samebit::text
