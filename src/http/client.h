// An HTTP/1.1 client, with or without TLS: one connection that is kept from request to request.
//
// For: replaying a matrix against a server. Not for: proxies, redirects, cookies, compression, HTTP/2.
// An object belongs to one thread at a time; every call blocks that thread, and no call waits for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "http/url.h"

namespace samebit::http {

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query
  std::vector<std::pair<std::string, std::string>> headers = {};  // more than Host, User-Agent and what belongs to the body
  std::string body = {};
};

struct ClientAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order
  std::string body;  // empty where a reader took it

  // The first header of that (lower-case) name; nullptr: absent.
  const std::string* Header(std::string_view name) const;
};

struct ClientOptions {
  uint32_t connect_seconds = limits::kConnectSeconds;
  uint32_t stall_seconds = limits::kServerStallSeconds;  // without one byte from the server
  uint64_t body_bytes_max = limits::kAnswerBytesMax;
  // A connection that the server closed while it was idle is opened anew, once, for the next request.
  bool reconnect = true;
  const std::atomic<bool>* cancelled = nullptr;  // looked at ten times a second; may be null
};

// Takes the bytes of an answer's body as they come. False: enough; the connection is closed.
using BodyReader = std::function<bool(std::string_view bytes)>;
// Chooses, when the head of an answer is there, who takes its body; null: it is put into ClientAnswer::body.
using ReaderChooser = std::function<BodyReader(const ClientAnswer& head)>;

class Client {
 public:
  // Connects with the first request.
  static std::unique_ptr<Client> Make(const Url& server, const ClientOptions& options);
  virtual ~Client() = default;

  // Failures: kIo (no connection, it broke, the server sent nothing for stall_seconds, a certificate that is not
  // trusted), kMalformed (not HTTP, an answer cut short), kTooLarge (headers or body), kCancelled. After a failure the
  // next request opens a new connection.
  virtual Result<ClientAnswer> Ask(const ClientRequest& request, const ReaderChooser& chooser = nullptr) = 0;
};

}  // namespace samebit::http
