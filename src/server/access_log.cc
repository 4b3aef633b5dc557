#include "server/access_log.h"

#include "base/json_writer.h"

namespace samebit::server {

std::string AccessLine(const AccessRecord& record) {
  JsonWriter json;
  json.BeginObject();
  json.Key("time_unix_ms").Number(record.unix_ns / 1'000'000).Key("request_id").Text(record.request_id);
  json.Key("client.address").Text(record.peer).Key("http.request.method").Text(record.method);
  json.Key("url.path").Text(record.path.substr(0, 256));
  json.Key("http.response.status_code").Number(record.counts.status);
  if (!record.key_name.empty()) json.Key("key").Text(record.key_name);
  if (!record.error_code.empty()) json.Key("error.type").Text(record.error_code);
  if (record.counts.prompt_tokens > 0) {
    json.Key("gen_ai.request.model").Text(record.model);
    json.Key("gen_ai.usage.input_tokens").Number(record.counts.prompt_tokens);
    json.Key("gen_ai.usage.output_tokens").Number(record.counts.completion_tokens);
    json.Key("samebit.cached_tokens").Number(record.counts.cached_tokens);
  }
  if (record.streamed) json.Key("streamed").Bool(true);
  if (record.client_left) json.Key("client_left").Bool(true);
  if (record.counts.first_token_seconds >= 0)
    json.Key("gen_ai.server.time_to_first_token").Number(record.counts.first_token_seconds);
  json.Key("seconds").Number(record.counts.seconds);
  return json.EndObject().Finish();
}

}  // namespace samebit::server
