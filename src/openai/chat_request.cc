#include "openai/chat_request.h"

#include <boost/json/serialize.hpp>

#include "base/json_kind.h"
#include "base/json_reader.h"
#include "base/limits.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

// Content in parts: text only.
void ReadParts(const json::array& parts, const std::string& path, FieldReader& fields, std::string& content) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    if (!parts[i].is_object()) {
      fields.Fail(InvalidValue(place, place + ": expected an object, found " + JsonKindName(&parts[i]), "invalid_type"));
      return;
    }
    FieldReader part(parts[i].get_object(), place);
    const auto type = part.Text("type");
    if (!part.error() && type != "text")
      part.Fail(Unsupported(place + ".type", place + ".type: only \"text\" exists here"));
    const auto text = part.Text("text");
    if (!part.error() && !text) part.Fail(InvalidValue(place + ".text", place + ".text: expected a string"));
    for (const std::string& name : part.Unknown())
      part.Fail(Unsupported(part.Path(name), part.Path(name) + ": unknown field"));
    if (part.error()) {
      fields.Fail(*part.error());
      return;
    }
    content += *text;
  }
}

void ReadContent(FieldReader& message, std::string& content) {
  const json::value* value = message.Take("content");
  const std::string path = message.Path("content");
  if (value == nullptr) {
    message.Fail(InvalidValue(path, path + ": expected a string or an array of text parts"));
  } else if (value->is_string()) {
    content = value->get_string();
  } else if (value->is_array()) {
    ReadParts(value->get_array(), path, message, content);
  } else {
    message.Fail(InvalidValue(path, path + ": expected a string or an array of text parts, found " + JsonKindName(value),
                              "invalid_type"));
  }
}

// The JSON that a call's arguments say.
json::value ReadArguments(FieldReader& function) {
  const std::string path = function.Path("arguments");
  const std::string text = function.Text("arguments").value_or("");
  if (function.error()) return {};
  Result<json::value> arguments = ReadJson(text.empty() ? "{}" : text, path);
  if (arguments.ok() && arguments->is_object()) return *arguments;
  function.Fail(InvalidValue(path, path + ": expected a JSON object as text"));
  return {};
}

void ReadCalls(FieldReader& message, json::object& extra) {
  const json::array* calls = message.Array("tool_calls");
  if (calls == nullptr || calls->empty()) return;
  if (calls->size() > limits::kToolsMax)
    return message.Fail(InvalidValue(message.Path("tool_calls"), message.Path("tool_calls") + ": too many calls"));
  json::array read;
  for (size_t i = 0; i < calls->size() && !message.error(); ++i) {
    const std::string path = message.Path("tool_calls") + "[" + std::to_string(i) + "]";
    if (!(*calls)[i].is_object())
      return message.Fail(InvalidValue(path, path + ": expected an object", "invalid_type"));
    FieldReader call((*calls)[i].get_object(), path);
    const std::string id = call.Text("id").value_or("");
    if (call.Text("type").value_or("function") != "function")
      call.Fail(Unsupported(path + ".type", path + ".type: only \"function\" exists here"));
    call.Whole("index", 0, limits::kToolsMax);
    const json::object* object = call.Object("function");
    if (object == nullptr) {
      call.Fail(InvalidValue(path + ".function", path + ".function: expected an object"));
    } else {
      FieldReader function(*object, path + ".function");
      const std::string name = function.Text("name").value_or("");
      json::value arguments = ReadArguments(function);
      for (const std::string& unknown : function.Unknown())
        function.Fail(Unsupported(function.Path(unknown), function.Path(unknown).substr(0, 80) + ": unknown field"));
      if (function.error()) call.Fail(*function.error());
      read.push_back(json::object{
          {"id", id}, {"type", "function"}, {"function", json::object{{"name", name}, {"arguments", std::move(arguments)}}}});
    }
    for (const std::string& unknown : call.Unknown())
      call.Fail(Unsupported(call.Path(unknown), call.Path(unknown).substr(0, 80) + ": unknown field"));
    if (call.error()) message.Fail(*call.error());
  }
  extra["tool_calls"] = std::move(read);
}

void ReadResult(FieldReader& message, json::object& extra) {
  const auto id = message.Text("tool_call_id");
  const auto name = message.Text("name");
  if (id) extra["tool_call_id"] = *id;
  if (name) extra["name"] = *name;
}

ChatMessage ReadMessage(FieldReader& message) {
  ChatMessage out;
  const std::string path = message.Path("role");
  out.role = message.Text("role").value_or("");
  if (out.role == "developer") out.role = "system";
  if (out.role == "function") {
    message.Fail(Unsupported(path, path + ": use tool"));
  } else if (out.role != "system" && out.role != "user" && out.role != "assistant" && out.role != "tool") {
    message.Fail(InvalidValue(path, path + ": expected system, developer, user, assistant or tool, found " +
                                        Quoted(out.role)));
  }
  json::object extra;
  if (out.role == "tool") ReadResult(message, extra);
  if (out.role == "assistant") ReadCalls(message, extra);
  out.has_calls = extra.contains("tool_calls");
  for (const char* name : {"tool_calls", "function_call", "name", "tool_call_id"}) {
    if (out.role == "tool" && name != std::string_view("tool_calls") && name != std::string_view("function_call")) continue;
    if (out.has_calls && name == std::string_view("tool_calls")) continue;
    const json::value* value = message.Take(name);
    if (value != nullptr && !(value->is_array() && value->get_array().empty()))
      message.Fail(Unsupported(message.Path(name), message.Path(name) + ": the chat template is not given this"));
  }
  const json::value* content = message.Take("content");
  if (out.has_calls && content == nullptr)
    extra["content"] = nullptr;
  else
    ReadContent(message, out.content);
  if (!extra.empty()) out.extra_json = json::serialize(extra);
  // What OpenAI's libraries write beside an assistant's earlier answer.
  for (const char* name : {"refusal", "annotations", "audio", "reasoning", "reasoning_content"}) {
    const json::value* value = message.Take(name);
    if (value != nullptr && !(value->is_array() && value->get_array().empty()) &&
        !(value->is_string() && value->get_string().empty()))
      message.Fail(Unsupported(message.Path(name), message.Path(name) + ": the chat template is not given this"));
  }
  for (const std::string& name : message.Unknown())
    message.Fail(Unsupported(message.Path(name), message.Path(name).substr(0, 80) + ": unknown field"));
  return out;
}

void ReadLogprobs(FieldReader& fields, CommonRequest& common) {
  common.wants_logprobs = fields.Bool("logprobs").value_or(false);
  const auto top = fields.Whole("top_logprobs", 0, limits::kTopLogprobsMax);
  if (top.value_or(0) > 0 && !common.wants_logprobs)
    fields.Fail(InvalidValue("top_logprobs", "top_logprobs: only with logprobs = true"));
  if (common.wants_logprobs) common.sampling.logprobs = top.value_or(0);
}

// OpenAI's libraries insist on the field: behind a prompt template an empty list is as good as none.
bool HoldsMessages(FieldReader& fields) {
  const json::value* messages = fields.Take("messages");
  return messages != nullptr && !(messages->is_array() && messages->get_array().empty());
}

}  // namespace

std::vector<ChatMessage> ReadMessages(FieldReader& fields) {
  std::vector<ChatMessage> messages;
  const json::array* array = fields.Array("messages");
  if (array == nullptr) {
    fields.Fail(InvalidValue("messages", "messages: expected an array of messages", "missing_required_parameter"));
    return messages;
  }
  if (array->empty() || array->size() > limits::kMessagesMax) {
    fields.Fail(InvalidValue("messages", "messages: expected 1 to " + std::to_string(limits::kMessagesMax) +
                                             " messages, found " + std::to_string(array->size())));
    return messages;
  }
  for (size_t i = 0; i < array->size() && !fields.error(); ++i) {
    const std::string path = "messages[" + std::to_string(i) + "]";
    if (!(*array)[i].is_object()) {
      fields.Fail(InvalidValue(path, path + ": expected an object, found " + JsonKindName(&(*array)[i]), "invalid_type"));
      break;
    }
    FieldReader message((*array)[i].get_object(), path);
    messages.push_back(ReadMessage(message));
    if (message.error()) fields.Fail(*message.error());
  }
  return messages;
}

namespace {

void CheckTools(FieldReader& fields, const ChatRequest& request) {
  if (request.tools.choice == ToolRequest::Choice::kNone) return;
  if (request.common.response_format.kind != ResponseFormat::Kind::kText)
    fields.Fail(Unsupported("response_format", "response_format: not together with tools"));
  if (request.common.sampling.beam_width) fields.Fail(Unsupported("tools", "tools: not with use_beam_search"));
}

}  // namespace

std::variant<ChatRequest, ApiError> ParseChatRequest(const json::value& body, const ParseRules& rules) {
  if (!body.is_object()) return NotAnObject(body);
  FieldReader fields(body.get_object(), "");
  ChatRequest request;
  ReadCommon(fields, rules, 1, request.common);
  ReadLogprobs(fields, request.common);
  request.prompt_template = ReadPromptTemplate(fields);
  if (!request.prompt_template || HoldsMessages(fields)) request.messages = ReadMessages(fields);
  ReadTools(fields, request.tools);
  CheckTools(fields, request);
  if (const json::object* variables = fields.Object("chat_template_kwargs"))
    request.template_variables_json = json::serialize(*variables);
  const json::value* echo = fields.Take("echo");
  if (echo != nullptr && !(echo->is_bool() && !echo->get_bool()))
    fields.Fail(Unsupported("echo", "echo: only for /v1/completions"));
  const bool two_tools = request.template_variables_json.find("\"tools\"") != std::string::npos;
  if (two_tools && !request.tools.tools.empty())
    fields.Fail(InvalidValue("chat_template_kwargs.tools", "chat_template_kwargs.tools: not together with tools"));
  FinishFields(fields, request.common);
  if (fields.error()) return *fields.error();
  return request;
}

}  // namespace samebit::openai
