// An HTTP/1.1 server: one thread that reads and writes, a handler that answers from any thread.
//
// For: the routes of module server. Not for: HTTP/2, WebSocket, clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "http/message.h"
#include "http/tls.h"

namespace samebit::http {

// The answer to one request. All functions may be called from any thread; after the client is gone they do nothing.
// Either Send once, or BeginStream, Write any number of times, End. Dropped unanswered, it closes the connection.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void Send(Response response) = 0;
  // `head.body` is not sent.
  virtual void BeginStream(Response head) = 0;
  // A client that does not read: beyond limits::kStreamBacklogBytesMax unsent bytes it counts as gone.
  virtual void Write(std::string bytes) = 0;
  virtual void End() = 0;
  // Called once on the server's thread if the client leaves before the answer's end; at once if it has left already.
  virtual void OnGone(std::function<void()> callback) = 0;
};

// Called on the server's thread: it must not compute for long.
using Handler = std::function<void(Request request, std::shared_ptr<Exchange> exchange)>;
// The answer to bytes that are no request.
using FaultPage = std::function<Response(Fault fault)>;

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IP address, or "localhost"
  uint16_t port = 0;                  // 0: any free one
  std::optional<TlsFiles> tls = {};   // nothing: no TLS
  uint32_t connections_max = limits::kConnectionsMax;
  uint64_t body_bytes_max = limits::kBodyBytesMax;
  uint32_t header_seconds = limits::kHeaderSeconds;
  uint32_t body_seconds = limits::kBodySeconds;
  uint32_t idle_seconds = limits::kIdleSeconds;
  uint32_t write_stall_seconds = limits::kWriteStallSeconds;
};

class Server {
 public:
  // Listens; clients wait until Run. Failures: kInvalidArgument (the address), kIo (the port is taken, not allowed); those
  // of CheckTls.
  static Result<std::unique_ptr<Server>> Listen(const ServerOptions& options, Handler handler, FaultPage fault_page);
  // Before: Join, and whoever holds an Exchange lets go of it.
  virtual ~Server() = default;

  // Closes every connection at once and ends the thread; the handler is not called again. Exchanges do nothing from
  // then on.
  virtual void Join() = 0;

  // Starts the thread. Once.
  virtual void Run() = 0;
  virtual uint16_t port() const = 0;
  virtual size_t connections() const = 0;
  // No new connections; idle ones are closed; the others close after their answer.
  virtual void StopAccepting() = 0;
  // Runs `work` on the server's thread, soon. One call for many exchanges costs one wake-up.
  virtual void Post(std::function<void()> work) = 0;
};

}  // namespace samebit::http
