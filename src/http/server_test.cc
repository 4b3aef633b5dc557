// The server against plain sockets: whole answers, streams, clients that leave, deadlines.
#include "http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace samebit::http {
namespace {

class Client {
 public:
  explicit Client(uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connected_ = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    timeval limit = {10, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Client() { Close(); }
  bool connected() const { return connected_; }
  void Close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  void Send(const std::string& bytes) { ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // Until `ending` came or the connection ended.
  std::string Read(const std::string& ending = "\x01") {
    std::string got;
    char buffer[4096];
    while (!got.ends_with(ending)) {
      const ssize_t bytes = ::recv(descriptor_, buffer, sizeof buffer, 0);
      if (bytes <= 0) break;
      got.append(buffer, static_cast<size_t>(bytes));
    }
    return got;
  }

 private:
  int descriptor_;
  bool connected_ = false;
};

class ServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    auto server = Server::Listen(
        options, [this](Request request, std::shared_ptr<Exchange> exchange) { handler_(std::move(request), exchange); },
        [](Fault fault) {
          Response response;
          response.status = fault == Fault::kBodyTooLarge ? 413 : fault == Fault::kTimeout ? 408 : 400;
          response.body = "fault";
          return response;
        });
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    server_->Run();
  }
  void TearDown() override {
    if (server_) server_->Join();
    kept_.reset();
    server_.reset();
  }
  // The handler keeps its exchange for the test to answer.
  void StartKeeping() {
    handler_ = [this](Request, std::shared_ptr<Exchange> exchange) { Keep(std::move(exchange)); };
    Start();
  }
  // The exchange of one request; null where none came.
  std::shared_ptr<Exchange> Ask(Client& client) {
    client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    return WaitForKept();
  }
  std::shared_ptr<Exchange> WaitForKept() {
    std::unique_lock lock(mutex_);
    wakes_.wait_for(lock, std::chrono::seconds(10), [&] { return kept_ != nullptr; });
    return kept_;
  }
  void Keep(std::shared_ptr<Exchange> exchange) {
    const std::lock_guard lock(mutex_);
    kept_ = std::move(exchange);
    wakes_.notify_all();
  }

  std::function<void(Request, std::shared_ptr<Exchange>)> handler_ = [](Request request, std::shared_ptr<Exchange> exchange) {
    Response response;
    response.body = request.method + " " + request.path + " " + request.query + " " + request.body;
    exchange->Send(std::move(response));
  };
  std::unique_ptr<Server> server_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::shared_ptr<Exchange> kept_;
};

TEST_F(ServerTest, hands_method_path_query_and_body_to_the_handler) {
  Start();
  Client client(server_->port());
  client.Send("POST /a/b?c=d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz");
  EXPECT_NE(client.Read("xyz").find("POST /a/b c=d xyz"), std::string::npos);
}

TEST_F(ServerTest, streams_from_another_thread_in_order) {
  StartKeeping();
  Client client(server_->port());
  const auto exchange = Ask(client);
  ASSERT_NE(exchange, nullptr);
  exchange->BeginStream({});
  for (int i = 0; i < 100; ++i) exchange->Write(std::string(1, static_cast<char>('a' + i % 26)));
  exchange->End();
  const std::string got = client.Read("0\r\n\r\n");
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += std::string("1\r\n") + static_cast<char>('a' + i % 26) + "\r\n";
  EXPECT_TRUE(got.ends_with("\r\n\r\n" + expected + "0\r\n\r\n")) << got;
}

TEST_F(ServerTest, tells_the_handler_that_the_client_left) {
  StartKeeping();
  std::atomic<int> gone = 0;
  {
    Client client(server_->port());
    const auto exchange = Ask(client);
    ASSERT_NE(exchange, nullptr);
    exchange->OnGone([&] { ++gone; });
  }
  for (int i = 0; i < 500 && gone == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(gone, 1);
  // Whoever asks later is told at once, and once.
  WaitForKept()->OnGone([&] { ++gone; });
  for (int i = 0; i < 500 && gone == 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(gone, 2);
  WaitForKept()->Send({});  // nobody is there; nothing happens
}

TEST_F(ServerTest, an_exchange_that_nobody_answers_closes_its_connection) {
  handler_ = [](Request, std::shared_ptr<Exchange>) {};
  Start();
  Client client(server_->port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.Read(), "");
}

TEST_F(ServerTest, a_stream_that_nobody_reads_counts_as_left) {
  StartKeeping();
  Client client(server_->port());
  const auto exchange = Ask(client);
  ASSERT_NE(exchange, nullptr);
  std::atomic<bool> gone = false;
  exchange->OnGone([&] { gone = true; });
  exchange->BeginStream({});
  for (int i = 0; i < 1000 && !gone; ++i) {
    exchange->Write(std::string(64 << 10, 'x'));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(gone);
}

TEST_F(ServerTest, a_header_value_cannot_begin_a_new_header) {
  handler_ = [](Request, std::shared_ptr<Exchange> exchange) {
    Response response;
    response.headers = {{"X-Id", "a\r\nX-Forged: b"}};
    exchange->Send(std::move(response));
  };
  Start();
  Client client(server_->port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string got = client.Read();
  EXPECT_NE(got.find("X-Id: aX-Forged: b\r\n"), std::string::npos);
  EXPECT_EQ(got.find("\nX-Forged"), std::string::npos);
}

TEST_F(ServerTest, cuts_off_what_does_not_arrive_in_time) {
  Start({.header_seconds = 1, .body_seconds = 1, .idle_seconds = 1});
  Client idle(server_->port()), header(server_->port()), body(server_->port());
  header.Send("GET / HT");
  body.Send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_EQ(idle.Read(), "");
  EXPECT_NE(header.Read().find(" 408 "), std::string::npos);
  EXPECT_NE(body.Read().find(" 408 "), std::string::npos);
}

TEST_F(ServerTest, a_request_cut_anywhere_is_an_error_or_nothing) {
  Start();
  const std::string request = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz";
  for (size_t cut = 0; cut < request.size(); ++cut) {
    Client client(server_->port());
    client.Send(request.substr(0, cut));
    client.Close();
  }
  Client client(server_->port());
  client.Send(request);
  EXPECT_NE(client.Read("xyz").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, stops_accepting_and_finishes_what_it_has) {
  StartKeeping();
  Client idle(server_->port()), busy(server_->port());
  const auto exchange = Ask(busy);
  ASSERT_NE(exchange, nullptr);
  server_->StopAccepting();
  EXPECT_EQ(idle.Read(), "");
  EXPECT_FALSE(Client(server_->port()).connected());
  Response response;
  response.body = "late";
  exchange->Send(std::move(response));
  const std::string got = busy.Read();
  EXPECT_NE(got.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(got.ends_with("late"));
}

TEST_F(ServerTest, refuses_an_address_that_is_none_and_a_port_that_is_taken) {
  Start();
  const auto listen = [](const ServerOptions& options) {
    return Server::Listen(options, [](Request, std::shared_ptr<Exchange>) {}, [](Fault) { return Response(); });
  };
  EXPECT_EQ(listen({.address = "example"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(listen({.port = server_->port()}).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace samebit::http
