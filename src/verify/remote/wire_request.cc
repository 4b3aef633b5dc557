#include "base/json_writer.h"
#include "verify/compare.h"
#include "verify/remote/wire.h"

namespace samebit::verify {
namespace {

// Endpoints without a template get the bare contents.
std::string BareText(const std::vector<text::ChatMessage>& messages) {
  std::string text;
  for (const text::ChatMessage& message : messages) text += (text.empty() ? "" : "\n") + message.content;
  return text;
}

void WriteSampling(JsonWriter& json, const WireRequest& request) {
  json.Key("temperature").Number(request.temperature);
  const auto number = [&](const char* key, const std::optional<double>& value) {
    if (value) json.Key(key).Number(*value);
  };
  number("top_p", request.top_p);
  number("presence_penalty", request.presence_penalty);
  number("frequency_penalty", request.frequency_penalty);
}

std::string GenerateJson(const WireRequest& request, const Manner& manner) {
  JsonWriter json;
  json.BeginObject();
  json.Key("text").Text(BareText(request.messages));
  json.Key("sampling_params").BeginObject();
  WriteSampling(json, request);
  json.Key("max_new_tokens").Number(request.tokens_max);
  json.Key("n").Number(request.samples);
  if (manner.ignore_eos) json.Key("ignore_eos").Bool(true);
  if (manner.seed && request.seed) json.Key("sampling_seed").Number(*request.seed);
  json.EndObject();
  if (manner.logprobs) json.Key("return_logprob").Bool(true).Key("top_logprobs_num").Number(kTopCompared);
  if (request.streamed) json.Key("stream").Bool(true);
  json.EndObject();
  return json.Finish();
}

}  // namespace

const char* EndpointName(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kChat: return "/v1/chat/completions";
    case Endpoint::kCompletions: return "/v1/completions";
    case Endpoint::kGenerate: return "/generate";
  }
  return "";
}

std::string WireRequestJson(const WireRequest& request, const Manner& manner) {
  if (manner.endpoint == Endpoint::kGenerate) return GenerateJson(request, manner);
  const bool chat = manner.endpoint == Endpoint::kChat;
  JsonWriter json;
  json.BeginObject();
  json.Key("model").Text(request.model);
  if (chat) {
    json.Key("messages").BeginArray();
    for (const text::ChatMessage& message : request.messages)
      json.BeginObject().Key("role").Text(message.role).Key("content").Text(message.content).EndObject();
    json.EndArray();
  } else {
    json.Key("prompt").Text(BareText(request.messages));
  }
  json.Key("max_tokens").Number(request.tokens_max);
  WriteSampling(json, request);
  if (request.samples > 1) json.Key("n").Number(request.samples);
  if (manner.seed && request.seed) json.Key("seed").Number(*request.seed);
  if (manner.logprobs && chat) json.Key("logprobs").Bool(true).Key("top_logprobs").Number(kTopCompared);
  if (manner.logprobs && !chat) json.Key("logprobs").Number(kTopCompared);
  if (manner.token_ids) json.Key("return_token_ids").Bool(true);
  if (manner.ignore_eos) json.Key("ignore_eos").Bool(true);
  if (request.streamed) {
    json.Key("stream").Bool(true);
    json.Key("stream_options").BeginObject().Key("include_usage").Bool(true).EndObject();
  }
  json.EndObject();
  return json.Finish();
}

}  // namespace samebit::verify
