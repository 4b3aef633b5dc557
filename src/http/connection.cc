#include "http/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>

namespace samebit::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr size_t kReadBytes = 16 << 10;
// A client that is told why may still be sending: what it sends is read and dropped for so long, and up to a body's size,
// so that the answer is not lost with a reset.
constexpr uint32_t kDrainSeconds = 2;

Request ToRequest(beast::http::request<beast::http::string_body>&& from, const std::string& peer) {
  Request request;
  request.method = std::string(from.method_string());
  const std::string target(from.target());
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  for (const auto& field : from) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    request.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  request.body = std::move(from.body());
  request.peer = peer;
  return request;
}

// The exchange that a handler holds: hands every call to the connection's thread.
class ConnectionExchange final : public Exchange {
 public:
  ConnectionExchange(std::shared_ptr<Connection> connection, uint64_t number,
                     std::shared_ptr<const std::atomic<bool>> alive)
      : connection_(std::move(connection)), number_(number), alive_(std::move(alive)) {}
  // Posted, never run in place: the answer of another thread may still be on its way to this one.
  ~ConnectionExchange() override {
    if (!*alive_) return;
    asio::post(connection_->executor(), [connection = connection_, number = number_] { connection->Abandon(number); });
  }
  void Send(Response response) override {
    Dispatch([response = std::move(response)](Connection& connection, uint64_t number) mutable {
      connection.Send(number, std::move(response));
    });
  }
  void BeginStream(Response head) override {
    Dispatch([head = std::move(head)](Connection& connection, uint64_t number) mutable {
      connection.BeginStream(number, std::move(head));
    });
  }
  void Write(std::string bytes) override {
    Dispatch([bytes = std::move(bytes)](Connection& connection, uint64_t number) mutable {
      connection.Write(number, std::move(bytes));
    });
  }
  void End() override {
    Dispatch([](Connection& connection, uint64_t number) { connection.End(number); });
  }
  void OnGone(std::function<void()> callback) override {
    Dispatch([callback = std::move(callback)](Connection& connection, uint64_t number) mutable {
      connection.OnGone(number, std::move(callback));
    });
  }

 private:
  template <class Work>
  void Dispatch(Work work) {
    if (!*alive_) return;
    asio::dispatch(connection_->executor(), [connection = connection_, number = number_, work = std::move(work)]() mutable {
      work(*connection, number);
    });
  }

  std::shared_ptr<Connection> connection_;
  uint64_t number_;
  std::shared_ptr<const std::atomic<bool>> alive_;  // false: the server is being destroyed
};

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, Shared& shared)
    : wire_(std::move(socket), shared.tls.get()), shared_(shared) {
  boost::system::error_code error;
  const auto endpoint = wire_.socket().remote_endpoint(error);
  if (!error) peer_ = endpoint.address().to_string();
  wire_.socket().set_option(asio::ip::tcp::no_delay(true), error);  // a token is worth a packet
  wire_.socket().non_blocking(true, error);
}

void Connection::Start() {
  if (!wire_.is_tls()) {
    ReadNext();
    return;
  }
  phase_ = Phase::kHandshake;
  SetDeadline(limits::kHandshakeSeconds);
  wire_.Handshake([self = shared_from_this()](boost::system::error_code error) {
    if (self->phase_ != Phase::kHandshake) return;
    if (error)
      self->Close();
    else
      self->ReadNext();
  });
}

void Connection::Refuse(Fault fault) {
  if (wire_.is_tls())
    Close();  // nothing can be said before the handshake, and that is work
  else
    Answer(fault);
}

void Connection::Tick(Clock::time_point now) {
  if (now < deadline_) return;
  switch (phase_) {
    case Phase::kHeader:
    case Phase::kBody:
      Answer(Fault::kTimeout);
      return;
    case Phase::kBusy:
    case Phase::kStreaming:
    case Phase::kFinishing:
      Gone();  // it does not read what it asked for
      return;
    default:
      Close();
  }
}

void Connection::CloseIfIdle() {
  if (phase_ == Phase::kIdle) Close();
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  boost::system::error_code error;
  wire_.socket().close(error);
  shared_.connections.erase(shared_from_this());
}

void Connection::ReadNext() {
  if (shared_.stopping) {
    Close();
    return;
  }
  phase_ = Phase::kIdle;
  parser_.emplace();
  parser_->header_limit(limits::kHeaderBytesMax);
  parser_->body_limit(shared_.options.body_bytes_max);
  if (buffer_.size() > 0) {
    ReadHeader();
    return;
  }
  SetDeadline(shared_.options.idle_seconds);
  if (wire_.is_tls()) {
    ReadAhead();
    return;
  }
  wire_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](boost::system::error_code error, size_t bytes) {
                            if (self->phase_ != Phase::kIdle) return;
                            if (error) {
                              self->Close();
                              return;
                            }
                            self->buffer_.commit(bytes);
                            self->ReadHeader();
                          });
}

void Connection::ReadHeader() {
  phase_ = Phase::kHeader;
  SetDeadline(shared_.options.header_seconds);
  beast::http::async_read_header(
      wire_, buffer_, *parser_,
      [self = shared_from_this()](boost::system::error_code error, size_t) { self->OnHeader(error); });
}

void Connection::OnHeader(boost::system::error_code error) {
  if (phase_ != Phase::kHeader) return;
  if (error) {
    Fail(error);
    return;
  }
  phase_ = Phase::kBody;
  SetDeadline(shared_.options.body_seconds);
  if (!beast::iequals(parser_->get()[beast::http::field::expect], "100-continue")) {
    ReadBody();
    return;
  }
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(wire_, asio::buffer(kContinue.data(), kContinue.size()),
                    [self = shared_from_this()](boost::system::error_code failed, size_t) {
                      if (self->phase_ != Phase::kBody) return;
                      if (failed)
                        self->Close();
                      else
                        self->ReadBody();
                    });
}

void Connection::ReadBody() {
  beast::http::async_read(
      wire_, buffer_, *parser_,
      [self = shared_from_this()](boost::system::error_code error, size_t) { self->OnRequest(error); });
}

void Connection::OnRequest(boost::system::error_code error) {
  if (phase_ != Phase::kBody) return;
  if (error) {
    Fail(error);
    return;
  }
  phase_ = Phase::kBusy;
  NoDeadline();
  auto message = parser_->release();
  is_http10_ = message.version() < 11;
  is_head_ = message.method() == beast::http::verb::head;
  keep_alive_ = message.keep_alive();
  ++exchange_;
  on_gone_ = nullptr;
  WatchClient();
  auto exchange = std::make_shared<ConnectionExchange>(shared_from_this(), exchange_, shared_.alive);
  shared_.handler(ToRequest(std::move(message), peer_), std::move(exchange));
}

void Connection::Fail(boost::system::error_code error) {
  namespace http = beast::http;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    Answer(Fault::kHeaderTooLarge);
  } else if (error == http::error::body_limit) {
    Answer(Fault::kBodyTooLarge);
  } else if (error == http::error::end_of_stream || error == http::error::partial_message ||
             error.category() != make_error_code(http::error::end_of_stream).category()) {
    Close();  // the client left, or the network did
  } else {
    Answer(Fault::kMalformed);
  }
}

// An answer of this module itself; the connection's framing may be lost, so it is closed behind it.
void Connection::Answer(Fault fault) {
  keep_alive_ = false;
  is_head_ = false;
  phase_ = Phase::kBusy;
  ++exchange_;
  on_gone_ = nullptr;
  Send(exchange_, shared_.fault_page(fault));
}

// Waits for the client to leave while its answer is made. Bytes that come instead are the next request's: they stay in
// the socket, and the client's leaving is then seen by the first write that fails.
void Connection::WatchClient() {
  if (wire_.is_tls()) {
    ReadAhead();
    return;
  }
  if (watching_) return;
  watching_ = true;
  wire_.socket().async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](boost::system::error_code error) {
    self->watching_ = false;
    if (error == asio::error::operation_aborted) return;
    if (self->phase_ != Phase::kBusy && self->phase_ != Phase::kStreaming) return;
    if (error) {
      self->Gone();
      return;
    }
    char byte = 0;
    boost::system::error_code peeked;
    const size_t bytes =
        self->wire_.socket().receive(asio::buffer(&byte, 1), asio::ip::tcp::socket::message_peek, peeked);
    if (peeked == asio::error::would_block) {
      self->WatchClient();
      return;
    }
    if (peeked || bytes == 0) self->Gone();
  });
}

// Under TLS only a read can tell that the client left. What comes instead is the beginning of its next request: that is
// kept, and then nobody watches, as above. One read serves the wait for the answer's end and the idle time behind it.
void Connection::ReadAhead() {
  if (reading_ahead_ || buffer_.size() > 0) return;
  reading_ahead_ = true;
  wire_.async_read_some(buffer_.prepare(kReadBytes),
                        [self = shared_from_this()](boost::system::error_code error, size_t bytes) {
                          self->reading_ahead_ = false;
                          if (!error) self->buffer_.commit(bytes);
                          if (self->phase_ == Phase::kIdle) {
                            if (error)
                              self->Close();
                            else
                              self->ReadHeader();
                          } else if (error && (self->phase_ == Phase::kBusy || self->phase_ == Phase::kStreaming)) {
                            self->Gone();
                          }
                        });
}

void Connection::Gone() {
  if (phase_ == Phase::kClosed) return;
  const std::function<void()> callback = std::move(on_gone_);
  on_gone_ = nullptr;
  Close();
  if (callback) callback();
}

bool Connection::IsCurrent(uint64_t exchange) const {
  return exchange == exchange_ && (phase_ == Phase::kBusy || phase_ == Phase::kStreaming);
}

HeadOptions Connection::OptionsOfHead(BodyKind body) const {
  HeadOptions options;
  options.body = body;
  options.keep_alive = keep_alive_ && !shared_.stopping && body != BodyKind::kUntilClose;
  options.says_keep_alive = is_http10_;
  return options;
}

void Connection::Send(uint64_t exchange, Response response) {
  if (!IsCurrent(exchange) || phase_ != Phase::kBusy) return;
  const HeadOptions options = OptionsOfHead(BodyKind::kWhole);
  keep_alive_ = options.keep_alive;
  phase_ = Phase::kFinishing;
  std::string bytes = ResponseHead(response, options);
  if (!is_head_) bytes += response.body;
  Push(std::move(bytes));
}

void Connection::BeginStream(uint64_t exchange, Response head) {
  if (!IsCurrent(exchange) || phase_ != Phase::kBusy) return;
  const HeadOptions options = OptionsOfHead(is_http10_ ? BodyKind::kUntilClose : BodyKind::kChunked);
  keep_alive_ = options.keep_alive;
  phase_ = Phase::kStreaming;
  Push(ResponseHead(head, options));
}

void Connection::Write(uint64_t exchange, std::string bytes) {
  if (!IsCurrent(exchange) || phase_ != Phase::kStreaming) return;
  if (pending_.size() + (writing_.size() - written_) > limits::kStreamBacklogBytesMax) {
    Gone();
    return;
  }
  Push(is_http10_ ? std::move(bytes) : Chunk(bytes));
}

void Connection::End(uint64_t exchange) {
  if (!IsCurrent(exchange) || phase_ != Phase::kStreaming) return;
  phase_ = Phase::kFinishing;
  Push(is_http10_ ? std::string() : std::string(kLastChunk));
}

void Connection::OnGone(uint64_t exchange, std::function<void()> callback) {
  if (exchange != exchange_) return;
  if (phase_ == Phase::kClosed)
    callback();
  else if (IsCurrent(exchange))
    on_gone_ = std::move(callback);
}

void Connection::Abandon(uint64_t exchange) {
  if (IsCurrent(exchange)) Close();
}

void Connection::Push(std::string bytes) {
  if (pending_.empty())
    pending_ = std::move(bytes);
  else
    pending_ += bytes;
  if (!write_in_flight_) WriteMore();
}

// Writes what there is, piece by piece: each piece that goes out moves the deadline on.
void Connection::WriteMore() {
  if (written_ == writing_.size()) {
    writing_.clear();
    written_ = 0;
    if (pending_.empty()) {
      if (phase_ == Phase::kFinishing)
        Finish();
      else
        NoDeadline();
      return;
    }
    std::swap(writing_, pending_);
  }
  write_in_flight_ = true;
  SetDeadline(shared_.options.write_stall_seconds);
  wire_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                           [self = shared_from_this()](boost::system::error_code error, size_t bytes) {
                             self->write_in_flight_ = false;
                             if (self->phase_ == Phase::kClosed) return;
                             if (error) {
                               self->Gone();
                               return;
                             }
                             self->written_ += bytes;
                             self->WriteMore();
                           });
}

void Connection::Finish() {
  on_gone_ = nullptr;
  if (keep_alive_ && !shared_.stopping) {
    boost::system::error_code error;
    if (watching_) wire_.socket().cancel(error);
    ReadNext();
    return;
  }
  phase_ = Phase::kDraining;
  SetDeadline(kDrainSeconds);
  if (!wire_.is_tls()) {
    Drain();
    return;
  }
  wire_.SayGoodbye([self = shared_from_this()](boost::system::error_code) {
    if (self->phase_ == Phase::kDraining) self->Drain();
  });
}

// Below TLS too: what comes is not looked at.
void Connection::Drain() {
  if (drain_.empty()) {
    boost::system::error_code error;
    wire_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    drain_.resize(kReadBytes);
  }
  wire_.socket().async_read_some(asio::buffer(drain_),
                                 [self = shared_from_this()](boost::system::error_code error, size_t bytes) {
                                   if (self->phase_ != Phase::kDraining) return;
                                   self->drained_bytes_ += bytes;
                                   if (error || self->drained_bytes_ > self->shared_.options.body_bytes_max)
                                     self->Close();
                                   else
                                     self->Drain();
                                 });
}

}  // namespace samebit::http
