// The way from a request to its answer: sends, and writes down once how it went. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/server.h"
#include "openai/api_error.h"
#include "openai/answer_parts.h"
#include "server/access_log.h"
#include "world/clock.h"
#include "world/log.h"

namespace samebit::server {

// Borrowed; all outlive every port.
struct PortOutside {
  const world::Clock& clock;
  Metrics& metrics;
  world::LogSink* log = nullptr;  // null: no access log
};

class AnswerPort {
 public:
  AnswerPort(std::shared_ptr<http::Exchange> exchange, const PortOutside& outside, AccessRecord record);
  ~AnswerPort();  // a request whose client left is written down here

  void SendJson(std::string body, std::vector<std::pair<std::string, std::string>> headers = {});
  void SendText(std::string content_type, std::string body,
                std::vector<std::pair<std::string, std::string>> headers = {});
  void SendError(const openai::ApiError& error);

  void BeginStream(std::vector<std::pair<std::string, std::string>> headers);
  void Write(std::string bytes);
  void EndStream();
  // The stream cannot end well: an error event, and no [DONE].
  void EndStreamWithError(const openai::ApiError& error);

  // What the answer was, before it is sent. finish_reasons: "stop" or "length" of each choice.
  void CountAnswer(const openai::Usage& usage, const std::vector<std::string>& finish_reasons, std::string model);
  void CountFirstToken();
  void OnGone(std::function<void()> callback);

  const std::string& request_id() const { return record_.request_id; }

 private:
  http::Response Head(int status, std::string content_type,
                      std::vector<std::pair<std::string, std::string>> headers) const;
  void WriteDown(int status);

  const std::shared_ptr<http::Exchange> exchange_;
  const PortOutside& outside_;
  const uint64_t start_ns_;
  std::mutex mutex_;  // over the record
  AccessRecord record_;
  bool written_down_ = false;
};

}  // namespace samebit::server
