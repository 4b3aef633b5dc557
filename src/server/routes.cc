#include "server/routes.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "openai/token_request.h"
#include "server/cors.h"
#include "server/embedding_session.h"
#include "server/openapi_document.h"
#include "server/page.h"
#include "server/prepare.h"
#include "server/prepare_embedding.h"
#include "server/streamed_answer.h"
#include "server/token_answers.h"
#include "server/whole_answer.h"

namespace samebit::server {
namespace {

using openai::ApiError;

std::string Hex(uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

ApiError WithStatus(int status, std::string code, std::string message) {
  ApiError error = openai::InvalidValue("", std::move(message), std::move(code));
  error.status = status;
  if (status >= 500) error.type = "server_error";
  return error;
}

// A client's own id is echoed and logged if it is short and printable.
bool IsRequestId(const std::string* id) {
  return id != nullptr && !id->empty() && id->size() <= limits::kRequestIdBytesMax &&
         std::all_of(id->begin(), id->end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool SaysJson(const http::Request& request) {
  const std::string* type = request.Header("content-type");
  if (type == nullptr) return false;
  std::string media = type->substr(0, type->find(';'));
  while (!media.empty() && media.back() == ' ') media.pop_back();
  std::transform(media.begin(), media.end(), media.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return media == "application/json";
}

constexpr std::string_view kOneModel = "/v1/models/";

// "%2F" to "/"; what is no such triple stays as it is.
std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

const Routes::Route Routes::kRoutes[] = {
    {"/v1/chat/completions", "POST", true, &Routes::Chat},
    {"/v1/completions", "POST", true, &Routes::Completions},
    {"/v1/embeddings", "POST", true, &Routes::Embeddings},
    {"/v1/models", "GET", true, &Routes::Models},
    {kOneModel.data(), "GET", true, &Routes::OneModel},
    {"/tokenize", "POST", true, &Routes::Tokenize},
    {"/detokenize", "POST", true, &Routes::Detokenize},
    {"/tokenizer_info", "GET", true, &Routes::TokenizerInfo},
    {"/health", "GET", false, &Routes::Health},
    {"/ready", "GET", false, &Routes::Ready},
    {"/version", "GET", true, &Routes::Version},
    {"/v1/fingerprint", "GET", true, &Routes::Fingerprint},
    {"/metrics", "GET", true, &Routes::MetricsText},
    {"/openapi.json", "GET", false, &Routes::OpenApi},
    {"/", "GET", false, &Routes::Page},
};

Routes::Routes(const RoutesOutside& outside)
    : outside_(outside),
      start_hex_(Hex(static_cast<uint64_t>(outside.port.clock.unix_ns()), 16)),
      gate_(outside.rules.key_limits, outside.port.clock),
      first_bytes_(outside.rules.first_byte_seconds, outside.port.clock, outside.engine) {}

std::string Routes::NextId() { return start_hex_ + Hex(next_++, 8); }

// The route, or what to answer instead.
const Routes::Route* Routes::Find(const http::Request& request, ApiError& error) const {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::string allowed;
  for (const Route& route : kRoutes) {
    const bool is_prefix = route.path == kOneModel && request.path.starts_with(kOneModel);
    if (request.path != route.path && !is_prefix) continue;
    if (method == route.method) return &route;
    allowed = route.method;
  }
  if (allowed.empty()) {
    error = WithStatus(404, "not_found", "there is nothing at " + openai::Quoted(request.path));
  } else {
    error = WithStatus(405, "method_not_allowed",
                       openai::Quoted(request.method) + " is not for " + request.path + "; use " + allowed);
    error.allow = allowed;
  }
  return nullptr;
}

void Routes::Handle(http::Request request, std::shared_ptr<http::Exchange> exchange) {
  if (auto preflight = CorsPreflight(request, outside_.rules.cors_origins)) {
    exchange->Send(std::move(*preflight));
    return;
  }
  AccessRecord record;
  const std::string* given_id = request.Header("x-request-id");
  record.request_id = IsRequestId(given_id) ? *given_id : "req-" + NextId();
  record.method = request.method;
  record.path = request.path;
  record.peer = request.peer;
  if (const std::string* agent = request.Header("user-agent")) record.user_agent = *agent;
  record.body_bytes = request.body.size();
  if (outside_.rules.log_prompts) record.body = request.body.substr(0, limits::kLoggedBodyBytesMax);
  record.unix_ns = outside_.port.clock.unix_ns();
  ApiError error;
  const Route* route = Find(request, error);
  record.counts.route = route != nullptr ? route->path : "other";

  const ApiKey* key = outside_.keys.Find(request.Header("authorization"));
  const bool refused = outside_.keys.required() && key == nullptr && (route == nullptr || route->needs_key);
  if (key != nullptr) record.key_name = key->name;
  const auto port = std::make_shared<AnswerPort>(std::move(exchange), outside_.port, std::move(record));
  port->AddHeaders(CorsHeaders(request, outside_.rules.cors_origins));
  if (refused) {
    port->SendError(WithStatus(401, "invalid_api_key", "a key that this server knows is needed: Authorization: Bearer KEY"));
  } else if (route == nullptr) {
    port->SendError(error);
  } else if (route->method == std::string_view("POST") && !SaysJson(request)) {
    port->SendError(WithStatus(415, "unsupported_media_type", "Content-Type: expected application/json"));
  } else if (key == nullptr || route->method != std::string_view("POST")) {
    (this->*route->action)(request, port);
  } else {
    // What only looks costs nothing; the rest is counted to its key.
    auto entered = gate_.Enter(*key);
    if (const auto* full = std::get_if<ApiError>(&entered)) return port->SendError(*full);
    port->Hold(std::get<KeyGate::Place>(std::move(entered)));
    (this->*route->action)(request, port);
  }
}

http::Response Routes::FaultPage(http::Fault fault) {
  ApiError error;
  switch (fault) {
    case http::Fault::kMalformed:
      error = WithStatus(400, "malformed_http", "the bytes are no HTTP/1.1 request");
      break;
    case http::Fault::kHeaderTooLarge:
      error = WithStatus(431, "headers_too_large", "the headers have more than " +
                                                       std::to_string(limits::kHeaderBytesMax) + " bytes");
      break;
    case http::Fault::kBodyTooLarge:
      error = WithStatus(413, "body_too_large", "the body is larger than this server takes");
      break;
    case http::Fault::kTimeout:
      error = WithStatus(408, "request_timeout", "the request did not arrive in time");
      break;
    case http::Fault::kTooManyConnections:
      error = WithStatus(503, "too_many_connections", "too many connections are open");
      break;
  }
  RequestCounts counts;
  counts.route = "none";
  counts.status = error.status;
  counts.error_code = error.code;
  outside_.port.metrics.Count(counts);
  http::Response response;
  response.status = error.status;
  response.body = openai::ErrorJson(error);
  return response;
}

template <class Go>
void Routes::WithJson(const http::Request& request, const Port& port, Go go) {
  if (stopping_) {
    port->SendError(ServerStopping());
    return;
  }
  outside_.work.Post([this, request, port, go] {
    const auto body = ReadJson(request.body, "the body");
    if (!body.ok()) {
      ApiError error = ToApiError(body.error(), "");
      error.code = body.error().code == ErrorCode::kMalformed ? "invalid_json" : error.code;
      port->SendError(error);
      return;
    }
    go(*body);
  });
}

PrepareInput Routes::MakeInput() {
  return {outside_.model, [this] { return outside_.entropy.Seed(); }, outside_.port.clock.unix_ns() / 1'000'000'000,
          NextId()};
}

namespace {

openai::ParseRules RulesFor(const ServedModel& model, const http::Request& request) {
  openai::ParseRules rules;
  rules.vocabulary = model.vocabulary;
  rules.tier_default = model.tier_default;
  if (const std::string* tier = request.Header("x-reproducibility-tier")) rules.tier_header = *tier;
  return rules;
}

}  // namespace

template <auto kParse, auto kPrepare>
void Routes::Answer(const http::Request& request, const Port& port) {
  if (!outside_.model.generates) return port->SendError(GeneratesNothing(outside_.model));
  WithJson(request, port, [this, port, rules = RulesFor(outside_.model, request)](const auto& body) {
    auto parsed = kParse(body, rules);
    if (const auto* error = std::get_if<ApiError>(&parsed)) return port->SendError(*error);
    auto prepared = kPrepare(std::move(std::get<0>(parsed)), MakeInput());
    if (const auto* error = std::get_if<ApiError>(&prepared)) return port->SendError(*error);
    Submit(std::move(std::get<0>(prepared)), port);
  });
}

void Routes::Chat(const http::Request& request, const Port& port) {
  Answer<openai::ParseChatRequest, PrepareChat>(request, port);
}

void Routes::Completions(const http::Request& request, const Port& port) {
  Answer<openai::ParseCompletionRequest, PrepareCompletion>(request, port);
}

void Routes::Submit(Prepared prepared, const Port& port) {
  std::vector<engine::Request> requests = std::move(prepared.requests);
  std::shared_ptr<Session> session;
  if (prepared.common.stream)
    session = std::make_shared<StreamedAnswer>(std::move(prepared), port, *outside_.model.tokenizer);
  else
    session = std::make_shared<WholeAnswer>(std::move(prepared), port, *outside_.model.tokenizer, outside_.work,
                                            [this, port](std::vector<engine::Request> more, std::shared_ptr<Session> same) -> Status {
                                              RETURN_IF_ERROR(outside_.engine.Submit(std::move(more), same));
                                              // The client may have left between two attempts, with nothing to cancel.
                                              CancelWhenGone(port, same);
                                              return {};
                                            });
  const Status status = outside_.engine.Submit(std::move(requests), session);
  if (!status.ok()) {
    port->SendError(status.error().code == ErrorCode::kCapacity
                        ? openai::Refuse(contract::Refusal::kCapacity, "", status.error().message)
                        : ServerStopping());
    return;
  }
  first_bytes_.Watch(port, session);
  CancelWhenGone(port, session);
}

void Routes::CancelWhenGone(const Port& port, const std::shared_ptr<Session>& session) {
  // The connection must not keep the session alive: it holds the connection's exchange.
  port->OnGone([this, weak = std::weak_ptr<Session>(session)] {
    if (const std::shared_ptr<Session> gone = weak.lock()) outside_.engine.Cancel(gone);
  });
}

void Routes::Embeddings(const http::Request& request, const Port& port) {
  WithJson(request, port, [this, port, rules = RulesFor(outside_.model, request)](const auto& body) {
    auto parsed = openai::ParseEmbeddingRequest(body, rules);
    if (const auto* error = std::get_if<ApiError>(&parsed)) return port->SendError(*error);
    auto prepared = PrepareEmbedding(std::move(std::get<0>(parsed)), MakeInput());
    if (const auto* error = std::get_if<ApiError>(&prepared)) return port->SendError(*error);
    auto& ready = std::get<PreparedEmbedding>(prepared);
    const auto session = std::make_shared<EmbeddingSession>(std::move(ready.answer), port, outside_.work);
    const Status status = outside_.embeds.Submit(std::move(ready.requests), session);
    if (!status.ok()) {
      port->SendError(status.error().code == ErrorCode::kCapacity
                          ? openai::Refuse(contract::Refusal::kCapacity, "", status.error().message)
                          : ServerStopping());
      return;
    }
    port->OnGone([this, weak = std::weak_ptr<EmbeddingSession>(session)] {
      if (const auto gone = weak.lock()) outside_.embeds.Cancel(gone);
    });
  });
}

namespace {

void WriteModel(JsonWriter& json, const ServedModel& model) {
  json.BeginObject().Key("id").Text(model.id).Key("object").Text("model").Key("created").Number(model.created_seconds);
  json.Key("owned_by").Text("samebit").Key("root").Text(model.id).Key("parent").Verbatim("null");
  json.Key("max_model_len").Number(model.context_max).EndObject();
}

}  // namespace

void Routes::Models(const http::Request&, const Port& port) {
  JsonWriter json;
  json.BeginObject().Key("object").Text("list").Key("data").BeginArray();
  WriteModel(json, outside_.model);
  port->SendJson(json.EndArray().EndObject().Finish());
}

void Routes::OneModel(const http::Request& request, const Port& port) {
  const std::string id = PercentDecoded(std::string_view(request.path).substr(kOneModel.size()));
  if (id != outside_.model.id) {
    ApiError error = WithStatus(404, "model_not_found", "the model " + openai::Quoted(id) + " is not served here");
    error.param = "model";
    port->SendError(error);
    return;
  }
  JsonWriter json;
  WriteModel(json, outside_.model);
  port->SendJson(json.Finish());
}

void Routes::Tokenize(const http::Request& request, const Port& port) {
  WithJson(request, port, [this, port](const auto& body) {
    auto parsed = openai::ParseTokenizeRequest(body);
    if (const auto* error = std::get_if<ApiError>(&parsed)) return port->SendError(*error);
    auto answer = TokenizeAnswer(std::get<0>(parsed), MakeInput());
    if (const auto* error = std::get_if<ApiError>(&answer)) return port->SendError(*error);
    port->SendJson(std::move(std::get<0>(answer)));
  });
}

void Routes::Detokenize(const http::Request& request, const Port& port) {
  WithJson(request, port, [this, port](const auto& body) {
    auto parsed = openai::ParseDetokenizeRequest(body, outside_.model.vocabulary);
    if (const auto* error = std::get_if<ApiError>(&parsed)) return port->SendError(*error);
    port->SendJson(DetokenizeAnswer(std::get<0>(parsed), outside_.model));
  });
}

void Routes::TokenizerInfo(const http::Request&, const Port& port) {
  port->SendJson(TokenizerInfoAnswer(outside_.model));
}

void Routes::Health(const http::Request&, const Port& port) { port->SendJson("{\"status\":\"ok\"}"); }

// The listener starts after the self-test and the model: a server that answers has both.
void Routes::Ready(const http::Request&, const Port& port) {
  if (stopping_)
    port->SendError(ServerStopping());
  else
    port->SendJson("{\"status\":\"ready\"}");
}

void Routes::Version(const http::Request&, const Port& port) {
  JsonWriter json;
  json.BeginObject().Key("version").Text(outside_.model.version);
  port->SendJson(json.EndObject().Finish());
}

void Routes::Fingerprint(const http::Request&, const Port& port) {
  const ServedModel& model = outside_.model;
  engine::SamplingSources sources{model.defaults, model.checkpoint, engine::kTokensMaxDefault,
                                  [] { return uint64_t{0}; }};
  const engine::EffectiveSampling effective = engine::ResolveSampling({}, sources, *model.spec);
  const contract::Fingerprint fingerprint = model.generates ? FingerprintOf(model, effective.request)
                                                            : EmbeddingFingerprintOf(model, model.vector_form);
  JsonWriter json;
  json.BeginObject().Key("object").Text("samebit.fingerprint").Key("document").Verbatim(fingerprint.document);
  json.Key("inference_fingerprint").Text(fingerprint.inference_fingerprint);
  json.Key("semantic_sha256").Text(fingerprint.semantic_sha256);
  json.Key("numeric_sha256").Text(fingerprint.numeric_sha256);
  json.Key("deployment_sha256").Text(fingerprint.deployment_sha256);
  json.Key("system_fingerprint").Text(contract::SystemFingerprint(model.version, fingerprint));
  json.Key("model_files").BeginArray();
  for (const auto& [path, digest] : model.files)
    json.BeginObject().Key("path").Text(path).Key("sha256").Text(digest).EndObject();
  port->SendJson(json.EndArray().EndObject().Finish());
}

void Routes::OpenApi(const http::Request&, const Port& port) { port->SendJson(std::string(OpenApiDocument())); }

void Routes::MetricsText(const http::Request&, const Port& port) {
  port->SendText("text/plain; version=0.0.4; charset=utf-8",
                 outside_.port.metrics.Text(outside_.engine.load(), connection_count_ ? connection_count_() : 0));
}

// Without a key: the page holds nothing of this server, and is where a key is typed.
void Routes::Page(const http::Request&, const Port& port) {
  port->SendText("text/html; charset=utf-8", std::string(PageHtml()), PageHeaders());
}

}  // namespace samebit::server
