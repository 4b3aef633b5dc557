#include "http/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <thread>

#include "http/connection.h"
#include "http/tls_context.h"

namespace samebit::http {

const std::string* Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return &value;
  }
  return nullptr;
}

namespace {

namespace asio = boost::asio;

// How often deadlines are looked at; they are seconds, so a quarter of one is exact enough.
constexpr auto kTick = std::chrono::milliseconds(250);

class AsioServer final : public Server {
 public:
  AsioServer(const ServerOptions& options, Handler handler, FaultPage fault_page)
      : io_(1), acceptor_(io_), timer_(io_) {
    shared_.options = options;
    shared_.handler = std::move(handler);
    shared_.fault_page = std::move(fault_page);
  }

  ~AsioServer() override {
    Join();
    *shared_.alive = false;  // exchanges that are still queued inside io_ go with it
  }

  void Join() override {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      CloseListener();
      timer_.cancel();
      const auto open = shared_.connections;
      for (const auto& connection : open) connection->Close();
      io_.stop();
    });
    thread_.join();
  }

  Status Bind() {
    if (shared_.options.tls) {
      ASSIGN_OR_RETURN(shared_.tls, MakeTlsContext(*shared_.options.tls));
    }
    boost::system::error_code error;
    const std::string& name = shared_.options.address == "localhost" ? std::string("127.0.0.1") : shared_.options.address;
    const auto address = asio::ip::make_address(name, error);
    if (error) {
      return Error{ErrorCode::kInvalidArgument, "listen address: expected an IP address or localhost, found '" +
                                                    shared_.options.address + "'"};
    }
    const asio::ip::tcp::endpoint endpoint(address, shared_.options.port);
    const auto failed = [&](const char* step) {
      return Error{ErrorCode::kIo, std::string("cannot ") + step + " " + name + " port " +
                                       std::to_string(shared_.options.port) + ": " + error.message()};
    };
    acceptor_.open(endpoint.protocol(), error);
    if (error) return failed("open a socket for");
    acceptor_.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
    acceptor_.bind(endpoint, error);
    if (error) return failed("bind");
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return failed("listen on");
    port_ = acceptor_.local_endpoint(error).port();
    return {};
  }

  void Run() override {
    Accept();
    Tick();
    thread_ = std::thread([this] { io_.run(); });
  }

  uint16_t port() const override { return port_; }
  size_t connections() const override { return connection_count_; }

  void StopAccepting() override {
    asio::post(io_, [this] {
      shared_.stopping = true;
      CloseListener();
      const auto open = shared_.connections;
      for (const auto& connection : open) connection->CloseIfIdle();
      connection_count_ = shared_.connections.size();
    });
  }

  void Post(std::function<void()> work) override { asio::post(io_, std::move(work)); }

 private:
  void CloseListener() {
    boost::system::error_code error;
    acceptor_.close(error);
  }

  void Accept() {
    acceptor_.async_accept([this](boost::system::error_code error, asio::ip::tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        // Out of descriptors, most likely: the next tick tries again.
        accept_paused_ = true;
        return;
      }
      const auto connection = std::make_shared<Connection>(std::move(socket), shared_);
      const bool too_many = shared_.connections.size() >= shared_.options.connections_max;
      shared_.connections.insert(connection);
      connection_count_ = shared_.connections.size();
      if (too_many)
        connection->Refuse(Fault::kTooManyConnections);
      else
        connection->Start();
      Accept();
    });
  }

  void Tick() {
    timer_.expires_after(kTick);
    timer_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      const auto now = Connection::Clock::now();
      const auto open = shared_.connections;
      for (const auto& connection : open) connection->Tick(now);
      connection_count_ = shared_.connections.size();
      if (accept_paused_ && acceptor_.is_open()) {
        accept_paused_ = false;
        Accept();
      }
      Tick();
    });
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  Shared shared_;
  std::thread thread_;
  uint16_t port_ = 0;
  std::atomic<size_t> connection_count_ = 0;
  bool accept_paused_ = false;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Listen(const ServerOptions& options, Handler handler, FaultPage fault_page) {
  auto server = std::make_unique<AsioServer>(options, std::move(handler), std::move(fault_page));
  RETURN_IF_ERROR(server->Bind());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace samebit::http
