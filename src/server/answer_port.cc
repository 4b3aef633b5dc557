#include "server/answer_port.h"

#include <algorithm>

#include "base/check.h"
#include "openai/answer.h"

namespace samebit::server {
namespace {

// What proxies of other servers write for a client that left.
constexpr int kStatusClientLeft = 499;

}  // namespace

AnswerPort::AnswerPort(std::shared_ptr<http::Exchange> exchange, const PortOutside& outside, AccessRecord record)
    : exchange_(std::move(exchange)),
      outside_(outside),
      start_ns_(outside.clock.monotonic_ns()),
      record_(std::move(record)) {}

AnswerPort::~AnswerPort() {
  record_.client_left = !written_down_;
  WriteDown(kStatusClientLeft);
}

http::Response AnswerPort::Head(int status, std::string content_type,
                                std::vector<std::pair<std::string, std::string>> headers) const {
  http::Response response;
  response.status = status;
  response.content_type = std::move(content_type);
  response.headers = std::move(headers);
  response.headers.emplace_back("X-Request-Id", record_.request_id);
  response.headers.insert(response.headers.end(), more_headers_.begin(), more_headers_.end());
  return response;
}

void AnswerPort::SendJson(std::string body, std::vector<std::pair<std::string, std::string>> headers) {
  if (!Begin()) return;
  http::Response response = Head(200, "application/json", std::move(headers));
  response.body = std::move(body);
  exchange_->Send(std::move(response));
  WriteDown(200);
}

void AnswerPort::SendText(std::string content_type, std::string body,
                          std::vector<std::pair<std::string, std::string>> headers) {
  if (!Begin()) return;
  http::Response response = Head(200, std::move(content_type), std::move(headers));
  response.body = std::move(body);
  exchange_->Send(std::move(response));
  WriteDown(200);
}

void AnswerPort::SendError(const openai::ApiError& error) {
  if (!Begin()) return;
  std::vector<std::pair<std::string, std::string>> headers;
  if (error.is_refusal) headers.emplace_back("X-Reproducibility-Error", error.code);
  if (error.retry_after_seconds) headers.emplace_back("Retry-After", std::to_string(*error.retry_after_seconds));
  if (!error.allow.empty()) headers.emplace_back("Allow", error.allow);
  if (error.status == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
  http::Response response = Head(error.status, "application/json", std::move(headers));
  response.body = openai::ErrorJson(error);
  exchange_->Send(std::move(response));
  {
    const std::lock_guard lock(mutex_);
    record_.counts.error_code = error.code;
    if (error.is_refusal) record_.counts.refusal = error.code;
  }
  WriteDown(error.status);
}

void AnswerPort::BeginStream(std::vector<std::pair<std::string, std::string>> headers) {
  if (!Begin()) return;
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("X-Accel-Buffering", "no");
  {
    const std::lock_guard lock(mutex_);
    record_.streamed = true;
  }
  exchange_->BeginStream(Head(200, "text/event-stream; charset=utf-8", std::move(headers)));
}

void AnswerPort::Write(std::string bytes) { exchange_->Write(std::move(bytes)); }

void AnswerPort::EndStream() {
  exchange_->End();
  WriteDown(200);
}

void AnswerPort::EndStreamWithError(const openai::ApiError& error) {
  exchange_->Write(openai::SseEvent(openai::ErrorJson(error)));
  exchange_->End();
  {
    const std::lock_guard lock(mutex_);
    record_.counts.error_code = error.code;
  }
  WriteDown(200);
}

void AnswerPort::CountAnswer(const openai::Usage& usage, const std::vector<std::string>& finish_reasons,
                             std::string model) {
  const std::lock_guard lock(mutex_);
  record_.model = std::move(model);
  record_.counts.prompt_tokens = usage.prompt_tokens;
  record_.counts.completion_tokens = usage.completion_tokens;
  record_.counts.cached_tokens = usage.cached_tokens;
  for (const std::string& reason : finish_reasons) {
    const auto place = std::find(kFinishReasons.begin(), kFinishReasons.end(), reason);
    CHECK(place != kFinishReasons.end());  // an answer with a cancelled choice is an error and not counted here
    ++record_.counts.finished[static_cast<size_t>(place - kFinishReasons.begin())];
  }
  record_.finish_reasons = finish_reasons;
}

void AnswerPort::CountTokensArrived() {
  const std::lock_guard lock(mutex_);
  const uint64_t now_ns = outside_.clock.monotonic_ns();
  if (record_.counts.first_token_seconds < 0)
    record_.counts.first_token_seconds = static_cast<double>(now_ns - start_ns_) * 1e-9;
  else
    record_.counts.inter_token.Add(static_cast<double>(now_ns - last_token_ns_) * 1e-9);
  last_token_ns_ = now_ns;
}

void AnswerPort::CountMargin(float margin) {
  const std::lock_guard lock(mutex_);
  record_.counts.margins.Add(static_cast<double>(margin));
}

void AnswerPort::OnGone(std::function<void()> callback) { exchange_->OnGone(std::move(callback)); }

void AnswerPort::WriteDown(int status) {
  const std::lock_guard lock(mutex_);
  if (written_down_) return;
  written_down_ = true;
  place_.reset();
  record_.counts.status = status;
  record_.counts.seconds = static_cast<double>(outside_.clock.monotonic_ns() - start_ns_) * 1e-9;
  outside_.metrics.Count(record_.counts);
  if (outside_.log != nullptr) outside_.log->Write(world::LogLevel::kInfo, AccessLine(record_));
}

}  // namespace samebit::server
