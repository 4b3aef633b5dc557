#include "server/access_log.h"

#include <algorithm>

#include "base/json_writer.h"

namespace samebit::server {
namespace {

constexpr size_t kShownMax = 256;          // of a path or a client's name for itself
constexpr size_t kFinishReasonsMax = 256;  // of a batch; the rest would only repeat them

// OpenTelemetry's names for what a route does; empty: it generates nothing.
const char* OperationOf(const std::string& route) {
  if (route == "/v1/chat/completions") return "chat";
  if (route == "/v1/completions") return "text_completion";
  if (route == "/v1/embeddings") return "embeddings";
  return "";
}

}  // namespace

std::string AccessLine(const AccessRecord& record) {
  JsonWriter json;
  json.BeginObject();
  json.Key("time_unix_ms").Number(record.unix_ns / 1'000'000).Key("request_id").Text(record.request_id);
  json.Key("client.address").Text(record.peer).Key("http.request.method").Text(record.method);
  json.Key("url.path").Text(record.path.substr(0, kShownMax)).Key("http.route").Text(record.counts.route);
  if (!record.user_agent.empty()) json.Key("user_agent.original").Text(record.user_agent.substr(0, kShownMax));
  json.Key("http.request.body.size").Number(record.body_bytes);
  json.Key("http.response.status_code").Number(record.counts.status);
  if (!record.key_name.empty()) json.Key("key").Text(record.key_name);
  if (!record.counts.error_code.empty()) json.Key("error.type").Text(record.counts.error_code);
  const std::string operation = OperationOf(record.counts.route);
  if (!operation.empty()) json.Key("gen_ai.operation.name").Text(operation).Key("gen_ai.provider.name").Text("samebit");
  if (record.counts.prompt_tokens > 0) {
    json.Key("gen_ai.request.model").Text(record.model);
    json.Key("gen_ai.usage.input_tokens").Number(record.counts.prompt_tokens);
    json.Key("gen_ai.usage.output_tokens").Number(record.counts.completion_tokens);
    json.Key("gen_ai.response.finish_reasons").BeginArray();
    for (size_t i = 0; i < std::min(record.finish_reasons.size(), kFinishReasonsMax); ++i)
      json.Text(record.finish_reasons[i]);
    json.EndArray();
    json.Key("samebit.cached_tokens").Number(record.counts.cached_tokens);
  }
  if (record.streamed) json.Key("streamed").Bool(true);
  if (record.client_left) json.Key("client_left").Bool(true);
  if (record.counts.first_token_seconds >= 0)
    json.Key("gen_ai.server.time_to_first_token").Number(record.counts.first_token_seconds);
  json.Key("seconds").Number(record.counts.seconds);
  if (!record.body.empty()) json.Key("samebit.request.body").Text(record.body);
  return json.EndObject().Finish();
}

}  // namespace samebit::server
