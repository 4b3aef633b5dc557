#include "contract/prompt_template_digest.h"

#include "base/decimal.h"
#include "base/digest.h"
#include "contract/canonical_json.h"

namespace samebit::contract {
namespace {

namespace json = boost::json;

json::value ValueJson(const PromptValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return json::string(*text);
  if (const auto* whole = std::get_if<int64_t>(&value)) return json::string(std::to_string(*whole));
  if (const auto* number = std::get_if<double>(&value)) return json::string(Decimal(*number));
  return std::get<bool>(value);
}

json::array ListJson(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

json::object VariableJson(const PromptVariable& variable) {
  json::object object;
  object["type"] = PromptVariableTypeName(variable.type);
  object["description"] = variable.description;
  object["required"] = variable.required;
  if (variable.default_value) object["default"] = ValueJson(*variable.default_value);
  switch (variable.type) {
    case PromptVariableType::kString:
      object["max_length"] = variable.length_max;
      break;
    case PromptVariableType::kInteger:
      object["minimum"] = std::to_string(variable.integer_min);
      object["maximum"] = std::to_string(variable.integer_max);
      break;
    case PromptVariableType::kNumber:
      object["minimum"] = Decimal(variable.number_min);
      object["maximum"] = Decimal(variable.number_max);
      break;
    case PromptVariableType::kEnum:
      object["values"] = ListJson(variable.choices);
      break;
    case PromptVariableType::kBoolean:
      break;
  }
  return object;
}

json::array ExamplesJson(const std::vector<PromptExample>& examples) {
  json::array array;
  for (const PromptExample& example : examples) {
    json::object object;
    object["user"] = example.user;
    object["assistant"] = example.assistant;
    object["why"] = example.why;
    array.emplace_back(std::move(object));
  }
  return array;
}

}  // namespace

const char* PromptVariableTypeName(PromptVariableType type) {
  switch (type) {
    case PromptVariableType::kString: return "string";
    case PromptVariableType::kInteger: return "integer";
    case PromptVariableType::kNumber: return "number";
    case PromptVariableType::kBoolean: return "boolean";
    case PromptVariableType::kEnum: break;
  }
  return "enum";
}

const char* PromptFormatName(PromptFormat format) {
  switch (format) {
    case PromptFormat::kText: return "text";
    case PromptFormat::kJson: return "json";
    case PromptFormat::kChoice: return "choice";
    case PromptFormat::kInteger: return "integer";
    case PromptFormat::kNumber: return "number";
    case PromptFormat::kLine: break;
  }
  return "line";
}

std::string PromptTemplateJson(const PromptTemplate& prompt) {
  json::object object, variables;
  object["schema"] = "samebit.prompt/1";
  object["name"] = prompt.name;
  object["version"] = prompt.version;
  object["description"] = prompt.description;
  object["system"] = prompt.system;
  object["user"] = prompt.user;
  object["examples"] = ExamplesJson(prompt.examples);
  object["negative_examples"] = ExamplesJson(prompt.negative_examples);
  for (const PromptVariable& variable : prompt.variables) variables[variable.name] = VariableJson(variable);
  object["variables"] = std::move(variables);
  if (prompt.output) {
    json::object output;
    output["format"] = PromptFormatName(prompt.output->format);
    output["instruction"] = prompt.output->instruction;
    output["keys"] = ListJson(prompt.output->keys);
    output["choices"] = ListJson(prompt.output->choices);
    object["output"] = std::move(output);
  }
  return CanonicalJson(object);
}

std::string PromptTemplateSha256(const PromptTemplate& prompt) { return Sha256::Of(PromptTemplateJson(prompt)).hex(); }

}  // namespace samebit::contract
