#include "openai/api_error.h"

#include "base/json_writer.h"

namespace samebit::openai {

ApiError InvalidValue(std::string param, std::string message, std::string code) {
  ApiError error;
  error.message = std::move(message);
  error.param = std::move(param);
  error.code = std::move(code);
  return error;
}

ApiError Refuse(contract::Refusal refusal, std::string param, std::string message) {
  const contract::RefusalRow& row = contract::RowOf(refusal);
  ApiError error = InvalidValue(std::move(param), std::move(message), row.code);
  error.status = row.status;
  error.is_refusal = true;
  if (row.status == 429) error.type = "rate_limit_error";
  if (row.status == 503) error.type = "server_error";
  if (refusal == contract::Refusal::kCapacity) error.retry_after_seconds = 1;
  return error;
}

ApiError Unsupported(std::string param, std::string message) {
  return Refuse(contract::Refusal::kUnsupportedParameter, std::move(param), std::move(message));
}

std::string ErrorJson(const ApiError& error) {
  JsonWriter json;
  json.BeginObject().Key("error").BeginObject();
  json.Key("message").Text(error.message).Key("type").Text(error.type).Key("param");
  if (error.param.empty())
    json.Verbatim("null");
  else
    json.Text(error.param);
  json.Key("code").Text(error.code);
  if (!error.fields.empty()) {
    json.Key("fields").BeginArray();
    for (const std::string& field : error.fields) json.Text(field);
    json.EndArray();
  }
  return json.EndObject().EndObject().Finish();
}

}  // namespace samebit::openai
