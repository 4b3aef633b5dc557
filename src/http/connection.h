// One client. Everything here runs on the server's thread. Internal to http.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "http/server.h"
#include "http/wire.h"
#include "http/wire_text.h"

namespace samebit::http {

class Connection;

// What the connections of a server share.
struct Shared {
  ServerOptions options;
  Handler handler;
  FaultPage fault_page;
  std::unique_ptr<boost::asio::ssl::context> tls;  // null: none
  bool stopping = false;
  std::shared_ptr<std::atomic<bool>> alive = std::make_shared<std::atomic<bool>>(true);
  std::set<std::shared_ptr<Connection>> connections;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(boost::asio::ip::tcp::socket socket, Shared& shared);

  void Start();
  // Answers with a fault and closes: for a connection that is one too many.
  void Refuse(Fault fault);
  // Looks at the deadline.
  void Tick(Clock::time_point now);
  // Closes now if no request is being read or answered.
  void CloseIfIdle();
  void Close();

  // Of the exchange with this number; later ones are another request's.
  void Send(uint64_t exchange, Response response);
  void BeginStream(uint64_t exchange, Response head);
  void Write(uint64_t exchange, std::string bytes);
  void End(uint64_t exchange);
  void OnGone(uint64_t exchange, std::function<void()> callback);
  void Abandon(uint64_t exchange);

  boost::asio::any_io_executor executor() { return wire_.get_executor(); }

 private:
  enum class Phase { kHandshake, kIdle, kHeader, kBody, kBusy, kStreaming, kFinishing, kDraining, kClosed };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void SetDeadline(uint32_t seconds) { deadline_ = Clock::now() + std::chrono::seconds(seconds); }
  void NoDeadline() { deadline_ = Clock::time_point::max(); }

  void ReadNext();
  void ReadHeader();
  void OnHeader(boost::system::error_code error);
  void ReadBody();
  void OnRequest(boost::system::error_code error);
  void Fail(boost::system::error_code error);
  void Answer(Fault fault);
  void WatchClient();
  void ReadAhead();
  void Gone();
  bool IsCurrent(uint64_t exchange) const;
  HeadOptions OptionsOfHead(BodyKind body) const;
  void Push(std::string bytes);
  void WriteMore();
  void Finish();
  void Drain();

  Wire wire_;
  Shared& shared_;
  std::string peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Phase phase_ = Phase::kIdle;
  Clock::time_point deadline_ = Clock::time_point::max();
  uint64_t exchange_ = 0;  // number of the request being answered
  bool keep_alive_ = true;
  bool is_http10_ = false;
  bool is_head_ = false;  // HEAD: the body is not sent
  bool watching_ = false;
  bool reading_ahead_ = false;  // under TLS: into buffer_
  std::function<void()> on_gone_;
  std::string pending_, writing_;
  size_t written_ = 0;  // of writing_
  bool write_in_flight_ = false;
  // What comes too late, read and dropped. Not buffer_: a read that was given up may still write there.
  std::vector<char> drain_;
  uint64_t drained_bytes_ = 0;
};

}  // namespace samebit::http
