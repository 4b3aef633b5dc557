#include "openai/tool_request.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

#include "base/json_kind.h"
#include "base/limits.h"
#include "contract/canonical_json.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;
using Choice = ToolRequest::Choice;

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void RefuseUnknown(FieldReader& reader) {
  for (const std::string& name : reader.Unknown())
    reader.Fail(Unsupported(reader.Path(name).substr(0, 128), reader.Path(name).substr(0, 128) + ": unknown field"));
}

void ReadFunction(const json::object& object, const std::string& path, FieldReader& fields, Tool& tool) {
  FieldReader function(object, path);
  tool.name = function.Text("name").value_or("");
  if (!IsName(tool.name)) {
    function.Fail(InvalidValue(path + ".name",
                               path + ".name: expected 1 to 64 letters, digits, underscores or dashes"));
  }
  function.Text("description");
  tool.strict = function.Bool("strict").value_or(false);
  const json::object* parameters = function.Object("parameters");
  tool.parameters_json = parameters != nullptr ? json::serialize(*parameters) : R"({"type":"object"})";
  RefuseUnknown(function);
  if (function.error()) fields.Fail(*function.error());
}

Tool ReadTool(const json::value& value, const std::string& path, FieldReader& fields) {
  Tool tool;
  if (!value.is_object()) {
    fields.Fail(InvalidValue(path, path + ": expected an object, found " + JsonKindName(&value), "invalid_type"));
    return tool;
  }
  FieldReader reader(value.get_object(), path);
  if (reader.Text("type").value_or("") != "function")
    reader.Fail(Unsupported(path + ".type", path + ".type: only \"function\" exists here"));
  const json::object* function = reader.Object("function");
  if (function == nullptr)
    reader.Fail(InvalidValue(path + ".function", path + ".function: expected an object", "missing_required_parameter"));
  else
    ReadFunction(*function, path + ".function", reader, tool);
  RefuseUnknown(reader);
  if (reader.error()) fields.Fail(*reader.error());
  return tool;
}

bool Knows(const ToolRequest& request, const std::string& name) {
  return std::any_of(request.tools.begin(), request.tools.end(), [&](const Tool& tool) { return tool.name == name; });
}

void ReadChoice(FieldReader& fields, ToolRequest& out) {
  const json::value* value = fields.Take("tool_choice");
  out.choice = out.tools.empty() ? Choice::kNone : Choice::kAuto;
  if (value == nullptr) return;
  const std::string text = value->is_string() ? std::string(value->get_string()) : "";
  if (text == "none") {
    out.choice = Choice::kNone;
    return;
  }
  if (text == "auto" || text == "required") {
    out.choice = text == "auto" ? Choice::kAuto : Choice::kRequired;
  } else if (value->is_object()) {
    FieldReader reader(value->get_object(), "tool_choice");
    if (reader.Text("type").value_or("") != "function")
      reader.Fail(Unsupported("tool_choice.type", "tool_choice.type: only \"function\" exists here"));
    const json::object* function = reader.Object("function");
    RefuseUnknown(reader);
    if (function != nullptr) {
      FieldReader inner(*function, "tool_choice.function");
      out.named = inner.Text("name").value_or("");
      RefuseUnknown(inner);
      if (inner.error()) reader.Fail(*inner.error());
    }
    if (reader.error()) return fields.Fail(*reader.error());
    out.choice = Choice::kNamed;
    if (!Knows(out, out.named)) {
      fields.Fail(InvalidValue("tool_choice.function.name",
                               "tool_choice.function.name: " + Quoted(out.named) + " is none of the tools"));
    }
  } else {
    fields.Fail(InvalidValue("tool_choice", "tool_choice: expected none, auto, required or an object with a function"));
    return;
  }
  if (out.tools.empty()) fields.Fail(InvalidValue("tool_choice", "tool_choice: there are no tools to choose from"));
}

}  // namespace

void ReadTools(FieldReader& fields, ToolRequest& out) {
  const json::array* tools = fields.Array("tools");
  if (tools != nullptr && tools->size() > limits::kToolsMax) {
    fields.Fail(InvalidValue("tools", "tools: expected at most " + std::to_string(limits::kToolsMax) + ", found " +
                                          std::to_string(tools->size())));
  }
  for (size_t i = 0; tools != nullptr && i < tools->size() && !fields.error(); ++i) {
    const std::string path = "tools[" + std::to_string(i) + "]";
    Tool tool = ReadTool((*tools)[i], path, fields);
    if (!fields.error() && Knows(out, tool.name))
      fields.Fail(InvalidValue(path + ".function.name", path + ".function.name: " + Quoted(tool.name) + " stands twice"));
    out.tools.push_back(std::move(tool));
  }
  ReadChoice(fields, out);
  out.several = fields.Bool("parallel_tool_calls").value_or(true);
  if (fields.error() || out.tools.empty()) return;
  out.tools_json = json::serialize(*tools);
  json::object all;
  all["tools"] = out.tools_json;  // as text: the order of a schema's properties decides about the answer
  all["parallel_tool_calls"] = out.several;
  all["tool_choice"] = out.choice == Choice::kNone       ? "none"
                       : out.choice == Choice::kAuto     ? "auto"
                       : out.choice == Choice::kRequired ? "required"
                                                         : "function:" + out.named;
  out.canonical_json = contract::CanonicalJson(all);
}

}  // namespace samebit::openai
