// POST /v1/completions: the request, in the old shape that evaluation harnesses score with.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "openai/common_request.h"

namespace samebit::openai {

// One prompt: text, or token ids as they are.
using Prompt = std::variant<std::string, std::vector<TokenId>>;

// A field that holds one text or many, as text or as ids.
struct PromptField {
  const char* name;
  const char* items;  // "prompts": in messages
  uint32_t vocabulary;
  uint32_t count_max;
};
// Fails where the field is absent, of another form, or holds an id outside the vocabulary.
void ReadPrompts(FieldReader& fields, const PromptField& field, std::vector<Prompt>& prompts);

struct CompletionRequest {
  CommonRequest common;  // common.sampling.max_tokens may be 0, with echo
  std::vector<Prompt> prompts;  // at least one
  bool echo = false;
  bool add_special_tokens = true;  // text prompts: the model's bos, where it asks for one
};

std::variant<CompletionRequest, ApiError> ParseCompletionRequest(const boost::json::value& body,
                                                                 const ParseRules& rules);

}  // namespace samebit::openai
