// POST /tokenize and /detokenize, in vLLM's shapes.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "openai/chat_request.h"

namespace samebit::openai {

struct TokenizeRequest {
  std::optional<std::string> model;
  std::variant<std::string, std::vector<ChatMessage>> input;
  bool add_special_tokens = true;   // of a text
  bool add_generation_prompt = true;  // of messages
  bool return_token_strs = false;
};
std::variant<TokenizeRequest, ApiError> ParseTokenizeRequest(const boost::json::value& body);

struct DetokenizeRequest {
  std::optional<std::string> model;
  std::vector<TokenId> tokens;
};
std::variant<DetokenizeRequest, ApiError> ParseDetokenizeRequest(const boost::json::value& body, uint32_t vocabulary);

}  // namespace samebit::openai
