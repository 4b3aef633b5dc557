#include "openai/completion_request.h"

#include "base/json_kind.h"
#include "base/limits.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

// Ids of one prompt; false: an element is none.
bool ReadIds(const json::array& array, const std::string& path, uint32_t vocabulary, FieldReader& fields,
             std::vector<TokenId>& ids) {
  for (size_t i = 0; i < array.size(); ++i) {
    const auto id = WholeOf(array[i], INT32_MAX);
    if (id && *id < vocabulary) {
      ids.push_back(static_cast<TokenId>(*id));
      continue;
    }
    const std::string place = path + "[" + std::to_string(i) + "]";
    fields.Fail(InvalidValue(place, place + ": expected a token id from 0 to " + std::to_string(vocabulary - 1)));
    return false;
  }
  return true;
}

}  // namespace

void ReadPrompts(FieldReader& fields, const PromptField& field, std::vector<Prompt>& prompts) {
  const std::string name = field.name;
  const std::string expected =
      name + ": expected a string, an array of strings, token ids, or an array of arrays of token ids";
  const json::value* value = fields.Take(name);
  if (value == nullptr) {
    fields.Fail(InvalidValue(name, expected, "missing_required_parameter"));
    return;
  }
  if (value->is_string()) {
    prompts.emplace_back(std::string(value->get_string()));
    return;
  }
  if (!value->is_array() || value->get_array().empty()) {
    fields.Fail(InvalidValue(name, expected));
    return;
  }
  const json::array& array = value->get_array();
  if (array[0].is_number()) {
    std::vector<TokenId> ids;
    if (ReadIds(array, name, field.vocabulary, fields, ids)) prompts.emplace_back(std::move(ids));
    return;
  }
  if (array.size() > field.count_max) {
    fields.Fail(InvalidValue(name, name + ": expected at most " + std::to_string(field.count_max) + " " + field.items +
                                       ", found " + std::to_string(array.size())));
    return;
  }
  for (size_t i = 0; i < array.size(); ++i) {
    const std::string place = name + "[" + std::to_string(i) + "]";
    std::vector<TokenId> ids;
    if (array[i].is_string()) {
      prompts.emplace_back(std::string(array[i].get_string()));
    } else if (array[i].is_array()) {
      if (!ReadIds(array[i].get_array(), place, field.vocabulary, fields, ids)) return;
      prompts.emplace_back(std::move(ids));
    } else {
      fields.Fail(InvalidValue(place, place + ": expected a string or token ids, found " + JsonKindName(&array[i]),
                               "invalid_type"));
      return;
    }
  }
}

namespace {

// The old shape: a number of candidates. false is what some clients write for none.
void ReadLogprobs(FieldReader& fields, CommonRequest& common) {
  const json::value* value = fields.Take("logprobs");
  if (value == nullptr || (value->is_bool() && !value->get_bool())) return;
  const auto count = WholeOf(*value, limits::kTopLogprobsMax);
  if (!count) {
    fields.Fail(InvalidValue("logprobs", "logprobs: expected a whole number from 0 to " +
                                             std::to_string(limits::kTopLogprobsMax)));
    return;
  }
  common.wants_logprobs = true;
  common.sampling.logprobs = static_cast<uint32_t>(*count);
}

}  // namespace

std::variant<CompletionRequest, ApiError> ParseCompletionRequest(const json::value& body, const ParseRules& rules) {
  if (!body.is_object()) return NotAnObject(body);
  FieldReader fields(body.get_object(), "");
  CompletionRequest request;
  ReadCommon(fields, rules, 0, request.common);
  ReadLogprobs(fields, request.common);
  ReadPrompts(fields, {"prompt", "prompts", rules.vocabulary, limits::kRequestPromptsMax}, request.prompts);
  request.echo = fields.Bool("echo").value_or(false);
  request.add_special_tokens = fields.Bool("add_special_tokens").value_or(true);
  if (request.common.sampling.max_tokens == 0u && !request.echo)
    fields.Fail(InvalidValue("max_tokens", "max_tokens: 0 only with echo = true, to score the prompt"));
  if (request.echo && request.common.stream && request.common.wants_logprobs)
    fields.Fail(Unsupported("stream", "stream: not with echo and logprobs, which are known at the end only"));
  if (request.echo && request.common.sampling.beam_width)
    fields.Fail(Unsupported("echo", "echo: not with use_beam_search"));
  for (const char* name : {"tools", "tool_choice"}) {
    const json::value* value = fields.Take(name);
    const bool asks = value != nullptr && !(value->is_array() && value->get_array().empty()) &&
                      !(value->is_string() && value->get_string() == "none");
    if (asks) fields.Fail(Unsupported(name, std::string(name) + ": only for /v1/chat/completions"));
  }
  fields.Take("parallel_tool_calls");
  if (fields.Take("prompt_template") != nullptr)
    fields.Fail(Unsupported("prompt_template", "prompt_template: only for /v1/chat/completions"));
  FinishFields(fields, request.common);
  if (fields.error()) return *fields.error();
  return request;
}

}  // namespace samebit::openai
