// The way from a request to its answer: sends, and writes down once how it went. Any thread.
#pragma once

#include <atomic>
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

  // What the answer was, before it is sent. finish_reasons: of each choice.
  void CountAnswer(const openai::Usage& usage, const std::vector<std::string>& finish_reasons, std::string model);
  // A stream has tokens to write: the first of them, or those of another step.
  void CountTokensArrived();
  void CountMargin(float margin);
  void OnGone(std::function<void()> callback);

  // Goes into the answer's head.
  void AddHeaders(std::vector<std::pair<std::string, std::string>> headers) { more_headers_ = std::move(headers); }
  // Kept until the answer's end is written down.
  void Hold(std::shared_ptr<const void> place) { place_ = std::move(place); }
  // Whether an answer was sent or begun. The first one counts: what comes later, from another thread, is dropped.
  bool begun() const { return begun_; }

  const std::string& request_id() const { return record_.request_id; }

 private:
  http::Response Head(int status, std::string content_type,
                      std::vector<std::pair<std::string, std::string>> headers) const;
  void WriteDown(int status);
  bool Begin() { return !begun_.exchange(true); }

  const std::shared_ptr<http::Exchange> exchange_;
  const PortOutside& outside_;
  const uint64_t start_ns_;
  std::mutex mutex_;  // over the record
  AccessRecord record_;
  bool written_down_ = false;
  uint64_t last_token_ns_ = 0;
  std::atomic<bool> begun_ = false;
  std::vector<std::pair<std::string, std::string>> more_headers_;  // before it is shared
  std::shared_ptr<const void> place_;
};

}  // namespace samebit::server
