// POST /v1/chat/completions: the request.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "openai/common_request.h"
#include "openai/prompt_template_request.h"

namespace samebit::openai {

struct ChatMessage {
  std::string role;     // "system", "user", "assistant"; "developer" is OpenAI's newer name of "system" and read as it
  std::string content;  // text parts are joined without anything between them
};

struct ChatRequest {
  CommonRequest common;
  std::optional<PromptTemplateRequest> prompt_template;  // its messages go before `messages`, which may then be empty
  std::vector<ChatMessage> messages;
  std::string template_variables_json;  // chat_template_kwargs as JSON text, or ""
};

std::variant<ChatRequest, ApiError> ParseChatRequest(const boost::json::value& body, const ParseRules& rules);

// The messages alone, as /tokenize takes them too.
std::vector<ChatMessage> ReadMessages(FieldReader& fields);

}  // namespace samebit::openai
