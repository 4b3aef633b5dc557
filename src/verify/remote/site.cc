#include "verify/remote/site.h"

namespace samebit::verify {
namespace {

constexpr std::string_view kVersionPath = "/v1";

ErrorCode CodeOf(int status) {
  switch (status) {
    case 401: case 403: return ErrorCode::kInvalidArgument;
    case 404: case 405: return ErrorCode::kNotFound;
    case 400: case 409: case 413: case 415: case 422: case 501: return ErrorCode::kUnsupported;
    case 429: case 503: return ErrorCode::kCapacity;
    default: return ErrorCode::kInternal;
  }
}

Error StatusError(const http::ClientAnswer& answer, const std::string& body) {
  const std::string* after = answer.Header("retry-after");
  return {CodeOf(answer.status), "the server answered " + std::to_string(answer.status) +
                                     (after != nullptr ? " (retry after " + ErrorSentence(*after) + " s)" : "") + ": " +
                                     ErrorSentence(body)};
}

http::ClientRequest RequestTo(const Site& site, const char* method, std::string path) {
  http::ClientRequest request{.method = method, .target = std::move(path)};
  if (!site.api_key.empty()) request.headers.emplace_back("Authorization", "Bearer " + site.api_key);
  return request;
}

std::string PathOf(const Site& site, Endpoint endpoint) {
  return site.root() + EndpointName(endpoint);
}

}  // namespace

std::string Site::root() const {
  return url.path.ends_with(kVersionPath) ? url.path.substr(0, url.path.size() - kVersionPath.size()) : url.path;
}

std::unique_ptr<http::Client> Connect(const Site& site, bool reconnect) {
  return http::Client::Make(
      site.url, {.stall_seconds = site.stall_seconds, .reconnect = reconnect, .cancelled = site.cancelled});
}

Result<std::string> GetText(http::Client& client, const Site& site, const std::string& path) {
  ASSIGN_OR_RETURN(http::ClientAnswer answer, client.Ask(RequestTo(site, "GET", path)));
  if (answer.status != 200) return StatusError(answer, answer.body);
  return std::move(answer.body);
}

Result<Told> AskServer(http::Client& client, const Site& site, const WireRequest& request, const Manner& manner,
                       const std::function<bool()>& go_on) {
  http::ClientRequest asked = RequestTo(site, "POST", PathOf(site, manner.endpoint));
  asked.body = WireRequestJson(request, manner);
  Told told;
  told.began_ns = site.clock->monotonic_ns();

  http::SseReader reader;
  WireStream stream(manner);
  Status streamed;
  const auto take = [&](std::string_view bytes) {
    if (go_on && !go_on()) {
      streamed = Error{ErrorCode::kCancelled, "the stream was left"};
      return false;
    }
    std::vector<http::SseEvent> events;
    streamed = reader.Read(bytes, events);
    for (size_t i = 0; i < events.size() && streamed.ok(); ++i) streamed = stream.Take(events[i]);
    if (told.first_ns == 0 && stream.has_tokens()) told.first_ns = site.clock->monotonic_ns();
    return streamed.ok();
  };
  ASSIGN_OR_RETURN(const http::ClientAnswer answer,
                   client.Ask(asked, [&](const http::ClientAnswer& head) -> http::BodyReader {
                     if (head.status != 200 || !request.streamed) return nullptr;
                     return take;
                   }));
  told.ended_ns = site.clock->monotonic_ns();
  if (answer.status != 200) return StatusError(answer, answer.body);
  if (request.streamed) {
    RETURN_IF_ERROR(streamed);
    ASSIGN_OR_RETURN(told.answer, stream.Finish());
  } else {
    RETURN_IF_ERROR(AddToAnswer(answer.body, manner, told.answer));
  }
  if (told.answer.maker.empty()) told.answer.maker = told.answer.fingerprint;
  if (told.answer.choices.size() != request.samples)
    return Error{ErrorCode::kMalformed, "expected " + std::to_string(request.samples) + " choices, found " +
                                            std::to_string(told.answer.choices.size())};
  return told;
}

}  // namespace samebit::verify
