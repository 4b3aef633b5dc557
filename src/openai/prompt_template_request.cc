#include "openai/prompt_template_request.h"

#include "base/json_kind.h"
#include "base/limits.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

constexpr const char* kField = "prompt_template";

// "2" or 2. Not 1.10, which a JSON number cannot hold apart from 1.1.
std::optional<std::string> ReadVersion(FieldReader& reader) {
  const json::value* value = reader.Take("version");
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string(value->get_string());
  if (value->is_int64() && value->get_int64() >= 0) return std::to_string(value->get_int64());
  const std::string path = reader.Path("version");
  reader.Fail(InvalidValue(path, path + ": expected a string, found " + JsonKindName(value), "invalid_type"));
  return std::nullopt;
}

std::optional<PromptValue> ValueOf(const json::value& value) {
  if (value.is_string()) return PromptValue(std::string(value.get_string()));
  if (value.is_bool()) return PromptValue(value.get_bool());
  if (value.is_int64()) return PromptValue(value.get_int64());
  if (value.is_number()) return PromptValue(value.to_number<double>());
  return std::nullopt;
}

PromptValues ReadVariables(FieldReader& reader) {
  PromptValues values;
  const json::object* variables = reader.Object("variables");
  if (variables == nullptr) return values;
  if (variables->size() > limits::kPromptVariablesMax) {
    reader.Fail(InvalidValue(reader.Path("variables"), reader.Path("variables") + ": expected at most " +
                                                           std::to_string(limits::kPromptVariablesMax) + " values"));
    return values;
  }
  for (const json::key_value_pair& member : *variables) {
    const std::string name(member.key());
    const std::optional<PromptValue> value = ValueOf(member.value());
    if (!value) {
      const std::string path = reader.Path("variables." + name.substr(0, limits::kPromptNameBytesMax));
      reader.Fail(InvalidValue(path, path + ": expected a string, a number or a boolean, found " +
                                         JsonKindName(&member.value()), "invalid_type"));
      return values;
    }
    values.emplace_back(name, *value);
  }
  return values;
}

}  // namespace

std::optional<PromptTemplateRequest> ReadPromptTemplate(FieldReader& fields) {
  const json::object* object = fields.Object(kField);
  if (object == nullptr) return std::nullopt;
  FieldReader reader(*object, kField);
  PromptTemplateRequest request;
  const std::optional<std::string> name = reader.Text("name");
  if (!name && !reader.error()) {
    const std::string path = reader.Path("name");
    reader.Fail(InvalidValue(path, path + ": expected the name of a prompt template", "missing_required_parameter"));
  }
  request.name = name.value_or("");
  request.version = ReadVersion(reader);
  request.variables = ReadVariables(reader);
  for (const std::string& unknown : reader.Unknown())
    reader.Fail(Unsupported(reader.Path(unknown.substr(0, 64)), std::string(kField) + ": unknown field " + Quoted(unknown)));
  if (!reader.error()) return request;
  fields.Fail(*reader.error());
  return std::nullopt;
}

}  // namespace samebit::openai
