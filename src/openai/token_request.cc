#include "openai/token_request.h"

#include "base/limits.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

void RefuseUnknown(FieldReader& fields) {
  for (const std::string& name : fields.Unknown())
    fields.Fail(Unsupported(name.substr(0, 64), "unknown field " + Quoted(name)));
}

}  // namespace

std::variant<TokenizeRequest, ApiError> ParseTokenizeRequest(const json::value& body) {
  if (!body.is_object()) return NotAnObject(body);
  FieldReader fields(body.get_object(), "");
  TokenizeRequest request;
  request.model = fields.Text("model");
  const auto prompt = fields.Text("prompt");
  if (prompt)
    request.input = *prompt;
  else
    request.input = ReadMessages(fields);
  request.add_special_tokens = fields.Bool("add_special_tokens").value_or(prompt.has_value());
  request.add_generation_prompt = fields.Bool("add_generation_prompt").value_or(true);
  request.return_token_strs = fields.Bool("return_token_strs").value_or(false);
  RefuseUnknown(fields);
  if (fields.error()) return *fields.error();
  return request;
}

std::variant<DetokenizeRequest, ApiError> ParseDetokenizeRequest(const json::value& body, uint32_t vocabulary) {
  if (!body.is_object()) return NotAnObject(body);
  FieldReader fields(body.get_object(), "");
  DetokenizeRequest request;
  request.model = fields.Text("model");
  const auto tokens = fields.TokenIds("tokens", limits::kContextMax);
  if (!tokens) fields.Fail(InvalidValue("tokens", "tokens: expected token ids", "missing_required_parameter"));
  RefuseUnknown(fields);
  if (fields.error()) return *fields.error();
  request.tokens = *tokens;
  for (size_t i = 0; i < request.tokens.size(); ++i) {
    if (static_cast<uint32_t>(request.tokens[i]) < vocabulary) continue;
    const std::string place = "tokens[" + std::to_string(i) + "]";
    return InvalidValue(place, place + ": expected a token id from 0 to " + std::to_string(vocabulary - 1));
  }
  return request;
}

}  // namespace samebit::openai
