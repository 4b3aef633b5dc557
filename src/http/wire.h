// A connection's socket, plain or under TLS, with one set of calls for both. Internal to http; the server's thread only.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <optional>
#include <utility>

namespace samebit::http {

class Wire {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  // tls: null for a plain connection; outlives it.
  Wire(Socket socket, boost::asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(socket_, *tls);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // The bytes below TLS.
  Socket& socket() { return socket_; }
  bool is_tls() const { return tls_.has_value(); }
  executor_type get_executor() { return socket_.get_executor(); }

  // Under TLS only.
  template <class Handler>
  void Handshake(Handler handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::move(handler));
  }
  // Says goodbye and waits for the other side's.
  template <class Handler>
  void SayGoodbye(Handler handler) {
    tls_->async_shutdown(std::move(handler));
  }

  // As Asio's streams have them, so that Beast can read from here.
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_)
            tls_->async_read_some(into, std::move(handler));
          else
            socket_.async_read_some(into, std::move(handler));
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_)
            tls_->async_write_some(from, std::move(handler));
          else
            socket_.async_write_some(from, std::move(handler));
        },
        token, buffers);
  }

 private:
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

}  // namespace samebit::http
