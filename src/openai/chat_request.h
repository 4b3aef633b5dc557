// POST /v1/chat/completions: the request.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "openai/common_request.h"
#include "openai/prompt_template_request.h"
#include "openai/tool_request.h"

namespace samebit::openai {

struct ChatMessage {
  std::string role;     // "system", "user", "assistant", "tool"; "developer" is OpenAI's newer "system" and read as it
  std::string content;  // text parts are joined without anything between them
  // An assistant's tool_calls, a tool's tool_call_id and name, for the chat template: one JSON object text, or "". The
  // arguments of a call, a text in OpenAI's form, are the JSON that they say, as templates expect them.
  std::string extra_json;
  bool has_calls = false;
};

struct ChatRequest {
  CommonRequest common;
  std::optional<PromptTemplateRequest> prompt_template;  // its messages go before `messages`, which may then be empty
  std::vector<ChatMessage> messages;
  ToolRequest tools;
  std::string template_variables_json;  // chat_template_kwargs as JSON text, or ""
};

std::variant<ChatRequest, ApiError> ParseChatRequest(const boost::json::value& body, const ParseRules& rules);

// The messages alone, as /tokenize takes them too.
std::vector<ChatMessage> ReadMessages(FieldReader& fields);

}  // namespace samebit::openai
