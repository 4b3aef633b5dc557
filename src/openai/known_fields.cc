#include "openai/known_fields.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

// They tell the operator something and cannot reach the answer.
constexpr const char* kHarmless[] = {"user",           "safety_identifier",      "prompt_cache_key",
                                     "service_tier",   "prompt_cache_retention", "request_id"};

// A value that asks for nothing is let through; every other is refused by name.
struct Refused {
  const char* name;
  const char* instead;  // why, or what to do
};
constexpr Refused kRefused[] = {
    {"functions", "use tools"},
    {"function_call", "use tool_choice"},
    {"structured_outputs", "use response_format"},
    {"guided_json", "use response_format"},
    {"guided_regex", "use response_format with a schema's pattern"},
    {"guided_choice", "use response_format with a schema's enum"},
    {"guided_grammar", "use response_format"},
    {"modalities", "only [\"text\"] exists here"},
    {"audio", "only text exists here"},
    {"prediction", "predicted outputs do not exist here"},
    {"web_search_options", "this server searches nothing"},
    {"reasoning_effort", "the models here have no such setting"},
    {"verbosity", "the models here have no such setting"},
    {"store", "this server keeps no answers to ask for later"},
    {"suffix", "the models here do not fill gaps"},
    {"chat_template", "the model's own template is used"},
    {"documents", "put documents into the messages"},
    {"continue_final_message", "a chat ends with the assistant's turn to come"},
    {"truncate_prompt_tokens", "a prompt is never cut in silence"},
    {"include_stop_str_in_output", "the stop string is never part of the text"},
    {"skip_special_tokens", "control tokens have no text here; ask for return_token_ids"},
    {"spaces_between_special_tokens", "control tokens have no text here"},
    {"length_penalty", "beams are compared by their mean log-probability"},
    {"allowed_token_ids", "use logit_bias"},
    {"bad_words", "use logit_bias"},
    {"logits_processors", "code in requests is not run"},
    {"mirostat", "use temperature, top_k, top_p and min_p"},
    {"typical_p", "use temperature, top_k, top_p and min_p"},
    {"add_generation_prompt", "the answer is always the assistant's"},
};

// Whether the value says what would be done anyway.
bool AsksForNothing(std::string_view name, const json::value& value) {
  if (value.is_bool()) {
    const bool is_default = name == "skip_special_tokens" || name == "spaces_between_special_tokens" ||
                            name == "add_generation_prompt";
    return value.get_bool() == is_default;
  }
  if (name == "function_call") return value.is_string() && value.get_string() == "none";
  if (name == "suffix") return value.is_string() && value.get_string().empty();
  if (name == "length_penalty") return value.is_number() && value.to_number<double>() == 1;
  if (name == "mirostat") return value.is_number() && value.to_number<double>() == 0;
  if (name == "typical_p") return value.is_number() && value.to_number<double>() == 1;
  if (name == "modalities" && value.is_array())
    return value.get_array().size() == 1 && value.get_array()[0].is_string() &&
           value.get_array()[0].get_string() == "text";
  return value.is_array() && value.get_array().empty();
}

}  // namespace

void RefuseUnsupportedFields(FieldReader& fields) {
  for (const char* name : kHarmless) fields.Take(name);
  for (const Refused& refused : kRefused) {
    const json::value* value = fields.Take(refused.name);
    if (value != nullptr && !AsksForNothing(refused.name, *value))
      fields.Fail(Unsupported(refused.name, std::string(refused.name) + ": " + refused.instead));
  }
}

}  // namespace samebit::openai
