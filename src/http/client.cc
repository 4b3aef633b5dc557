#include "http/client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace samebit::http {

const std::string* ClientAnswer::Header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return &value;
  return nullptr;
}

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Clock = std::chrono::steady_clock;
using Parser = beast::http::response_parser<beast::http::buffer_body>;

constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr size_t kReadBytes = 16 << 10;
// Interim answers (100 to 199) before the real one; a server that sends only those is broken.
constexpr int kInterimAnswersMax = 8;

std::string RequestText(const Url& server, const ClientRequest& request) {
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\nHost: " +
                     server.origin().substr(server.tls ? 8 : 7) + "\r\nUser-Agent: samebit\r\nAccept: */*\r\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
  if (!request.body.empty() || request.method == "POST")
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n" + request.body;
}

void CopyHead(const Parser::value_type& from, ClientAnswer& answer) {
  answer.status = static_cast<int>(from.result_int());
  for (const auto& field : from) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    answer.headers.emplace_back(std::move(name), std::string(field.value()));
  }
}

class AsioClient final : public Client {
 public:
  AsioClient(Url server, const ClientOptions& options)
      : server_(std::move(server)), options_(options), resolver_(io_), buffer_(limits::kHeaderBytesMax + kReadBytes) {}
  ~AsioClient() override { Close(); }

  Result<ClientAnswer> Ask(const ClientRequest& request, const ReaderChooser& chooser) override {
    const std::string text = RequestText(server_, request);
    const bool was_kept = connected_;
    heard_ = false;
    auto answer = AskOnce(text, chooser);
    // A server may close a kept connection at the moment when the next request is on its way. Nothing of an answer had
    // come, so the request is asked again, on a connection that is new.
    const bool closed_while_idle = !answer.ok() && was_kept && !heard_ && !timed_out_ &&
                                   answer.error().code == ErrorCode::kIo;
    if (closed_while_idle && options_.reconnect) answer = AskOnce(text, chooser);
    return answer;
  }

 private:
  Result<ClientAnswer> AskOnce(const std::string& text, const ReaderChooser& chooser) {
    auto answer = Exchange(text, chooser);
    if (!answer.ok()) Close();
    return answer;
  }

  Result<ClientAnswer> Exchange(const std::string& text, const ReaderChooser& chooser) {
    if (!connected_) RETURN_IF_ERROR(Connect());
    RETURN_IF_ERROR(Await("sending to", options_.stall_seconds, [&](auto done) {
      WithStream([&](auto& stream) {
        asio::async_write(stream, asio::buffer(text), [done](boost::system::error_code error, size_t) { done(error); });
      });
    }));
    ClientAnswer answer;
    std::optional<Parser> parser;
    for (int interim = 0; answer.status < 200; ++interim) {
      if (interim > kInterimAnswersMax) return Wrong("sends interim answers and no answer");
      answer = {};
      parser.emplace();
      parser->header_limit(limits::kHeaderBytesMax);
      parser->body_limit(boost::none);  // bytes are counted below
      RETURN_IF_ERROR(Await("reading from", options_.stall_seconds, [&](auto done) {
        WithStream([&](auto& stream) {
          beast::http::async_read_header(stream, buffer_, *parser,
                                         [done](boost::system::error_code error, size_t) { done(error); });
        });
      }));
      heard_ = true;
      CopyHead(parser->get(), answer);
    }
    RETURN_IF_ERROR(ReadBody(*parser, answer, chooser));
    if (!parser->is_done() || !parser->get().keep_alive()) Close();
    return answer;
  }

  Status ReadBody(Parser& parser, ClientAnswer& answer, const ReaderChooser& chooser) {
    const BodyReader reader = chooser ? chooser(answer) : nullptr;
    uint64_t taken_bytes = 0;
    char bytes[kReadBytes];
    while (!parser.is_done()) {
      auto& body = parser.get().body();
      body.data = bytes;
      body.size = sizeof bytes;
      RETURN_IF_ERROR(Await("reading from", options_.stall_seconds, [&](auto done) {
        WithStream([&](auto& stream) {
          beast::http::async_read_some(stream, buffer_, parser, [done](boost::system::error_code error, size_t) {
            // The buffer is full: not an error, but a moment to empty it.
            done(error == beast::http::error::need_buffer ? boost::system::error_code() : error);
          });
        });
      }));
      const std::string_view got(bytes, sizeof bytes - body.size);
      taken_bytes += got.size();
      if (taken_bytes > options_.body_bytes_max)
        return Error{ErrorCode::kTooLarge, server_.origin() + ": expected an answer of at most " +
                                               std::to_string(options_.body_bytes_max) + " bytes, found more"};
      if (reader == nullptr) answer.body += got;
      else if (!got.empty() && !reader(got)) return {};
    }
    return {};
  }

  Status Connect() {
    Close();
    asio::ip::tcp::resolver::results_type found;
    RETURN_IF_ERROR(Await("looking up", options_.connect_seconds, [&](auto done) {
      resolver_.async_resolve(server_.host, std::to_string(server_.port),
                              [&found, done](boost::system::error_code error, auto results) {
                                found = results;
                                done(error);
                              });
    }));
    socket_.emplace(io_);
    RETURN_IF_ERROR(Await("connecting to", options_.connect_seconds, [&](auto done) {
      asio::async_connect(*socket_, found, [done](boost::system::error_code error, const auto&) { done(error); });
    }));
    boost::system::error_code ignored;
    socket_->set_option(asio::ip::tcp::no_delay(true), ignored);
    if (server_.tls) RETURN_IF_ERROR(Handshake());
    connected_ = true;
    return {};
  }

  Status Handshake() {
    boost::system::error_code error;
    if (!trust_) {
      trust_.emplace(asio::ssl::context::tls_client);
      trust_->set_default_verify_paths(error);  // SSL_CERT_FILE and SSL_CERT_DIR name others
    }
    tls_.emplace(*socket_, *trust_);
    tls_->set_verify_mode(asio::ssl::verify_peer, error);
    tls_->set_verify_callback(asio::ssl::host_name_verification(server_.host), error);
    SSL_set_tlsext_host_name(tls_->native_handle(), server_.host.c_str());
    return Await("greeting (TLS)", options_.connect_seconds, [&](auto done) {
      tls_->async_handshake(asio::ssl::stream_base::client, [done](boost::system::error_code failed) { done(failed); });
    });
  }

  // Calls `start` with a function to be called at the end of what it began; waits for that end, for `seconds` at most.
  template <class Start>
  Status Await(const char* doing, uint32_t seconds, Start start) {
    std::optional<boost::system::error_code> outcome;
    const auto deadline = Clock::now() + std::chrono::seconds(seconds);
    timed_out_ = false;
    bool was_cancelled = false;
    io_.restart();
    start([&outcome](boost::system::error_code error) { outcome = error; });
    while (!outcome && !timed_out_ && !was_cancelled) {
      io_.run_one_for(kPoll);
      if (io_.stopped()) io_.restart();
      was_cancelled = options_.cancelled != nullptr && *options_.cancelled;
      timed_out_ = Clock::now() >= deadline;
    }
    if (!outcome) {  // take the work back: what it refers to goes with this call
      resolver_.cancel();
      CloseSocket();
      while (!outcome && io_.run_one() > 0) {
      }
      if (was_cancelled) return Error{ErrorCode::kCancelled, "cancelled"};
      return Error{ErrorCode::kIo, server_.origin() + ": " + doing + " it took longer than " + std::to_string(seconds) +
                                       " s without a byte from it"};
    }
    timed_out_ = false;
    if (!*outcome) return {};
    return Explain(doing, *outcome);
  }

  Error Explain(const char* doing, boost::system::error_code error) const {
    namespace http = beast::http;
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return {ErrorCode::kTooLarge, server_.origin() + ": expected headers of at most " +
                                        std::to_string(limits::kHeaderBytesMax) + " bytes, found more"};
    if (error == http::error::partial_message) return Wrong("ended the connection inside an answer");
    if (error == http::error::end_of_stream)
      return {ErrorCode::kIo, server_.origin() + ": it closed the connection without an answer"};
    if (error.category() == make_error_code(http::error::end_of_stream).category())
      return Wrong("does not speak HTTP/1.1 (" + error.message() + ")");
    return {ErrorCode::kIo, server_.origin() + ": " + doing + " it failed: " + error.message()};
  }

  Error Wrong(const std::string& what) const { return {ErrorCode::kMalformed, server_.origin() + ": the server " + what}; }

  template <class Function>
  void WithStream(Function function) {
    if (tls_) function(*tls_);
    else function(*socket_);
  }

  void CloseSocket() {
    boost::system::error_code ignored;
    if (socket_) socket_->close(ignored);
  }

  void Close() {
    CloseSocket();
    connected_ = false;
    tls_.reset();
    socket_.reset();
    buffer_.clear();
  }

  const Url server_;
  const ClientOptions options_;
  asio::io_context io_{1};
  asio::ip::tcp::resolver resolver_;
  std::optional<asio::ip::tcp::socket> socket_;
  std::optional<asio::ssl::context> trust_;
  std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
  beast::flat_buffer buffer_;
  bool connected_ = false;
  bool heard_ = false;      // the head of an answer to the current request
  bool timed_out_ = false;  // the last wait
};

}  // namespace

std::unique_ptr<Client> Client::Make(const Url& server, const ClientOptions& options) {
  return std::make_unique<AsioClient>(server, options);
}

}  // namespace samebit::http
