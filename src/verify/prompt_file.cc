#include "verify/prompt_file.h"

#include <set>

#include "base/json_reader.h"
#include "base/limits.h"
#include "verify/json_fields.h"
#include "world/file.h"

namespace samebit::verify {
namespace {

namespace json = boost::json;

// Where we are, for messages: "<file>: line 3: ".
struct Place {
  const std::string& name;
  size_t line;
  std::string text() const { return name + ": line " + std::to_string(line); }
  Error Fail(ErrorCode code, const std::string& what) const { return Error{code, text() + ": " + what}; }
};

std::string Quoted(std::string_view key) { return "\"" + std::string(key.substr(0, 80)) + "\""; }

Result<std::string> TextOf(const json::value& value, std::string_view key, const Place& place) {
  if (!value.is_string()) return place.Fail(ErrorCode::kMalformed, Quoted(key) + ": expected a string");
  const json::string& text = value.get_string();
  if (text.empty()) return place.Fail(ErrorCode::kInvalidArgument, Quoted(key) + ": expected text, found none");
  if (text.size() > limits::kPromptBytesMax)
    return place.Fail(ErrorCode::kTooLarge, Quoted(key) + ": expected at most " +
                                                std::to_string(limits::kPromptBytesMax) + " bytes, found " +
                                                std::to_string(text.size()));
  return std::string(text.data(), text.size());
}

Result<std::vector<text::ChatMessage>> MessagesOf(const json::value& value, const Place& place) {
  if (!value.is_array() || value.get_array().empty())
    return place.Fail(ErrorCode::kMalformed, "\"messages\": expected a list of at least one message");
  if (value.get_array().size() > limits::kPromptMessagesMax)
    return place.Fail(ErrorCode::kTooLarge, "\"messages\": expected at most " +
                                                std::to_string(limits::kPromptMessagesMax) + " messages, found " +
                                                std::to_string(value.get_array().size()));
  std::vector<text::ChatMessage> messages;
  for (const json::value& entry : value.get_array()) {
    if (!entry.is_object()) return place.Fail(ErrorCode::kMalformed, "\"messages\": expected objects");
    for (const auto& field : entry.get_object())
      if (field.key() != "role" && field.key() != "content")
        return place.Fail(ErrorCode::kMalformed, "a message: expected \"role\" and \"content\", found " +
                                                     Quoted({field.key().data(), field.key().size()}));
    const json::value* role = FieldOf(entry.get_object(), "role");
    const json::value* content = FieldOf(entry.get_object(), "content");
    if (role == nullptr || content == nullptr)
      return place.Fail(ErrorCode::kMalformed, "a message: expected \"role\" and \"content\"");
    ASSIGN_OR_RETURN(std::string role_text, TextOf(*role, "role", place));
    if (role_text != "system" && role_text != "user" && role_text != "assistant")
      return place.Fail(ErrorCode::kInvalidArgument,
                        "\"role\": expected system, user or assistant, found " + Quoted(role_text));
    ASSIGN_OR_RETURN(std::string content_text, TextOf(*content, "content", place));
    messages.push_back({std::move(role_text), std::move(content_text)});
  }
  return messages;
}

Result<Prompt> PromptOf(const json::object& object, const Place& place) {
  for (const auto& field : object) {
    const std::string_view key(field.key().data(), field.key().size());
    if (key != "id" && key != "prompt" && key != "messages" && key != "category" && key != "max_tokens")
      return place.Fail(ErrorCode::kMalformed,
                        "expected the keys id, prompt or messages, category, max_tokens; found " + Quoted(key));
  }
  const json::value* id = FieldOf(object, "id");
  const json::value* prompt = FieldOf(object, "prompt");
  const json::value* messages = FieldOf(object, "messages");
  if (id == nullptr) return place.Fail(ErrorCode::kMalformed, "expected the key \"id\", found none");
  if ((prompt == nullptr) == (messages == nullptr))
    return place.Fail(ErrorCode::kMalformed, std::string("expected \"prompt\" or \"messages\", found ") +
                                                 (prompt == nullptr ? "neither" : "both"));
  Prompt out;
  out.category = "user";
  ASSIGN_OR_RETURN(out.id, TextOf(*id, "id", place));
  if (out.id.size() > limits::kPromptIdBytesMax)
    return place.Fail(ErrorCode::kTooLarge, "\"id\": expected at most " + std::to_string(limits::kPromptIdBytesMax) +
                                                " bytes, found " + std::to_string(out.id.size()));
  if (prompt != nullptr) {
    ASSIGN_OR_RETURN(std::string text, TextOf(*prompt, "prompt", place));
    out.messages.push_back({"user", std::move(text)});
  } else {
    ASSIGN_OR_RETURN(out.messages, MessagesOf(*messages, place));
  }
  if (const json::value* category = FieldOf(object, "category")) {
    ASSIGN_OR_RETURN(out.category, TextOf(*category, "category", place));
    if (out.category.size() > limits::kPromptIdBytesMax)
      return place.Fail(ErrorCode::kTooLarge,
                        "\"category\": expected at most " + std::to_string(limits::kPromptIdBytesMax) + " bytes");
  }
  if (const json::value* tokens = FieldOf(object, "max_tokens")) {
    const bool in_range = tokens->is_int64() && tokens->get_int64() >= 1 && tokens->get_int64() <= limits::kContextMax;
    if (!in_range)
      return place.Fail(ErrorCode::kInvalidArgument,
                        "\"max_tokens\": expected a whole number from 1 to " + std::to_string(limits::kContextMax));
    out.tokens_max = static_cast<uint32_t>(tokens->get_int64());
  }
  return out;
}

}  // namespace

Result<std::vector<Prompt>> ParsePromptFile(std::string_view text, const std::string& name) {
  std::vector<Prompt> prompts;
  std::set<std::string> ids;
  size_t line_number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const Place place{name, ++line_number};
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ASSIGN_OR_RETURN(const json::value value, ReadJson(line, place.text()));
    if (!value.is_object()) return place.Fail(ErrorCode::kMalformed, "expected a JSON object");
    ASSIGN_OR_RETURN(Prompt prompt, PromptOf(value.get_object(), place));
    if (!ids.insert(prompt.id).second)
      return place.Fail(ErrorCode::kInvalidArgument,
                        "\"id\": expected a new one, found " + Quoted(prompt.id) + " again");
    prompts.push_back(std::move(prompt));
    if (prompts.size() > limits::kPromptsMax)
      return place.Fail(ErrorCode::kTooLarge, "expected at most " + std::to_string(limits::kPromptsMax) + " prompts");
  }
  if (prompts.empty()) return Error{ErrorCode::kMalformed, name + ": expected at least one prompt, found none"};
  return prompts;
}

Result<std::vector<Prompt>> LoadPromptFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, world::ReadWholeFile(path, limits::kPromptFileBytesMax));
  return ParsePromptFile(text, path);
}

}  // namespace samebit::verify
