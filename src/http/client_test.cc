// The client against servers that behave, stall, lie and leave: each is a script over a plain socket.
#include "http/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "http/sse_reader.h"

namespace samebit::http {
namespace {

// What the peer does with one connection.
class Peer {
 public:
  explicit Peer(int descriptor) : descriptor_(descriptor) {}
  ~Peer() { ::close(descriptor_); }
  // The next request, head and body; "" at the end of the connection.
  std::string Request() {
    std::string got;
    char byte = 0;
    while (!got.ends_with("\r\n\r\n")) {
      if (::recv(descriptor_, &byte, 1, 0) != 1) return "";
      got += byte;
    }
    const size_t length_at = got.find("Content-Length: ");
    for (int left = length_at == std::string::npos ? 0 : std::stoi(got.substr(length_at + 16)); left > 0; --left) {
      if (::recv(descriptor_, &byte, 1, 0) != 1) return "";
      got += byte;
    }
    return got;
  }
  void Send(const std::string& bytes) { ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void WaitForEnd() {
    char bytes[256];
    while (::recv(descriptor_, bytes, sizeof bytes, 0) > 0) {
    }
  }

 private:
  int descriptor_;
};

// Serves one connection after the other, each by the next script; then none.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::function<void(Peer&)>> scripts) : scripts_(std::move(scripts)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    socklen_t length = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    url_ = *ParseUrl("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    thread_ = std::thread([this] {
      for (auto& script : scripts_) {
        const int descriptor = ::accept(listener_, nullptr, nullptr);
        if (descriptor < 0) return;
        Peer peer(descriptor);
        script(peer);
      }
    });
  }
  ~ScriptedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const Url& url() const { return url_; }

 private:
  std::vector<std::function<void(Peer&)>> scripts_;
  int listener_ = -1;
  Url url_;
  std::thread thread_;
};

std::string Whole(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Error FailureOf(const std::string& bytes, ClientOptions options = {}) {
  ScriptedServer server({[&](Peer& peer) {
    peer.Request();
    peer.Send(bytes);
  }});
  options.reconnect = false;
  auto answer = Client::Make(server.url(), options)->Ask({});
  EXPECT_FALSE(answer.ok()) << "answered " << answer->status;
  return answer.error();
}

TEST(Client, asks_and_keeps_the_connection) {
  std::vector<std::string> requests;
  ScriptedServer server({[&](Peer& peer) {
    for (const char* body : {"first", "second"}) {
      requests.push_back(peer.Request());
      peer.Send("HTTP/1.1 100 Continue\r\n\r\n" + Whole(body));
    }
    peer.WaitForEnd();
  }});
  const auto client = Client::Make(server.url(), {});
  const auto first = client->Ask({.method = "POST", .target = "/v1/x?y", .headers = {{"Authorization", "Bearer k"}}, .body = "{}"});
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->body, "first");
  EXPECT_EQ(*first->Header("x-one"), "1");
  EXPECT_EQ(first->Header("absent"), nullptr);
  EXPECT_EQ(client->Ask({.target = "/second"})->body, "second");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[0].starts_with("POST /v1/x?y HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_NE(requests[0].find("\r\nAuthorization: Bearer k\r\n"), std::string::npos);
  EXPECT_TRUE(requests[0].ends_with("Content-Length: 2\r\n\r\n{}"));
}

TEST(Client, opens_a_closed_connection_anew_once) {
  const auto serve_one = [](Peer& peer) {
    peer.Request();
    peer.Send(Whole("a"));
  };
  ScriptedServer server({serve_one, serve_one, serve_one});
  const auto client = Client::Make(server.url(), {});
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->Ask({});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the peer's close arrives
  }
}

TEST(Client, without_reconnecting_sees_that_the_server_left) {
  ScriptedServer server({[](Peer& peer) {
                           peer.Request();
                           peer.Send(Whole("a"));
                         },
                         [](Peer&) {}});
  const auto client = Client::Make(server.url(), {.reconnect = false});
  ASSERT_TRUE(client->Ask({}).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto answer = client->Ask({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kIo);
}

TEST(Client, hands_a_stream_on_as_it_comes) {
  ScriptedServer server({[](Peer& peer) {
    peer.Request();
    peer.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char* event : {"data: 1\n\n", "data: 2\n\n", "data: [DONE]\n\n"}) {
      char size[16];
      snprintf(size, sizeof size, "%zx\r\n", std::string(event).size());
      peer.Send(size + std::string(event) + "\r\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    peer.Send("0\r\n\r\n");
    peer.Request();
    peer.Send(Whole("next"));
  }});
  const auto client = Client::Make(server.url(), {});
  SseReader reader;
  std::vector<SseEvent> events;
  int pieces = 0;
  const auto answer = client->Ask({}, [&](const ClientAnswer& head) -> BodyReader {
    EXPECT_EQ(head.status, 200);
    return [&](std::string_view bytes) {
      ++pieces;
      return reader.Read(bytes, events).ok();
    };
  });
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(events.size(), 3u);
  EXPECT_GE(pieces, 3);
  EXPECT_EQ(client->Ask({})->body, "next");
}

TEST(Client, a_reader_that_has_enough_ends_the_connection) {
  ScriptedServer server({[](Peer& peer) {
                           peer.Request();
                           peer.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
                           peer.WaitForEnd();
                         },
                         [](Peer& peer) {
                           peer.Request();
                           peer.Send(Whole("new"));
                         }});
  const auto client = Client::Make(server.url(), {});
  ASSERT_TRUE(client->Ask({}, [](const ClientAnswer&) { return [](std::string_view) { return false; }; }).ok());
  EXPECT_EQ(client->Ask({})->body, "new");
}

TEST(Client, reads_a_body_that_ends_with_the_connection) {
  ScriptedServer server({[](Peer& peer) {
    peer.Request();
    peer.Send("HTTP/1.0 200 OK\r\n\r\nuntil the end");
  }});
  EXPECT_EQ(Client::Make(server.url(), {})->Ask({})->body, "until the end");
}

TEST(Client, says_that_nobody_is_there) {
  Url url = *ParseUrl("http://127.0.0.1:1");
  const auto answer = Client::Make(url, {})->Ask({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kIo);
  EXPECT_NE(answer.error().message.find("http://127.0.0.1:1"), std::string::npos);
  url.host = "no-such-host.invalid";
  EXPECT_EQ(Client::Make(url, {})->Ask({}).error().code, ErrorCode::kIo);
}

TEST(Client, does_not_wait_for_ever) {
  for (const char* sent : {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}) {
    ScriptedServer server({[&](Peer& peer) {
      peer.Request();
      peer.Send(sent);
      peer.WaitForEnd();
    }});
    const auto answer = Client::Make(server.url(), {.stall_seconds = 1})->Ask({});
    ASSERT_FALSE(answer.ok()) << sent;
    EXPECT_EQ(answer.error().code, ErrorCode::kIo) << sent;
    EXPECT_NE(answer.error().message.find("longer than 1 s"), std::string::npos) << answer.error().message;
  }
}

TEST(Client, can_be_cancelled) {
  std::atomic<bool> cancelled = false;
  ScriptedServer server({[&](Peer& peer) {
    peer.Request();
    cancelled = true;
    peer.WaitForEnd();
  }});
  const auto answer = Client::Make(server.url(), {.cancelled = &cancelled})->Ask({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
}

TEST(Client, refuses_an_answer_that_is_cut) {
  const std::string whole = Whole("a body");
  for (size_t length = 0; length < whole.size(); ++length) {
    const Error error = FailureOf(whole.substr(0, length));
    EXPECT_TRUE(error.code == ErrorCode::kMalformed || (length == 0 && error.code == ErrorCode::kIo))
        << length << ": " << error.message;
  }
}

TEST(Client, refuses_junk) {
  for (const char* bytes : {"SSH-2.0-OpenSSH_9\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "\x16\x03\x01\x02"})
    EXPECT_EQ(FailureOf(bytes).code, ErrorCode::kMalformed) << bytes;
  std::string interim;
  for (int i = 0; i < 20; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(FailureOf(interim).code, ErrorCode::kMalformed);
}

TEST(Client, bounds_headers_and_bodies) {
  EXPECT_EQ(FailureOf("HTTP/1.1 200 OK\r\nX: " + std::string(limits::kHeaderBytesMax + 1, 'x') + "\r\n\r\n").code,
            ErrorCode::kTooLarge);
  EXPECT_EQ(FailureOf(Whole(std::string(4097, 'x')), {.body_bytes_max = 4096}).code, ErrorCode::kTooLarge);
}

TEST(Client, does_not_take_a_plain_server_for_one_with_tls) {
  ScriptedServer server({[](Peer& peer) { peer.Send("HTTP/1.1 400 Bad Request\r\n\r\n"); }});
  Url url = server.url();
  url.tls = true;
  const auto answer = Client::Make(url, {})->Ask({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace samebit::http
