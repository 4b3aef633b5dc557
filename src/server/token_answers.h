// What /tokenize, /detokenize and /tokenizer_info answer, in vLLM's shapes.
#pragma once

#include <string>
#include <variant>

#include "openai/token_request.h"
#include "server/prepare.h"

namespace samebit::server {

// Takes texts up to limits::kTokenizeBytesMax, or what the model's context may hold if that is more. Errors: too_large,
// and those of the chat template, each with its `param`.
std::variant<std::string, openai::ApiError> TokenizeAnswer(const openai::TokenizeRequest& asked, const PrepareInput& input);
std::string DetokenizeAnswer(const openai::DetokenizeRequest& asked, const ServedModel& model);
std::string TokenizerInfoAnswer(const ServedModel& model);

}  // namespace samebit::server
