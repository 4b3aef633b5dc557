#include "http/sse_reader.h"

namespace samebit::http {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

Status SseReader::Read(std::string_view bytes, std::vector<SseEvent>& events) {
  for (const char c : bytes) {
    const bool ends_return = after_return_ && c == '\n';
    after_return_ = c == '\r';
    if (ends_return) continue;
    if (c == '\r' || c == '\n') {
      EndLine(events);
      continue;
    }
    line_ += c;
    if (line_.size() + event_.data.size() > event_bytes_max_)
      return Error{ErrorCode::kTooLarge, "stream: expected events of at most " + std::to_string(event_bytes_max_) +
                                             " bytes, found a longer one"};
  }
  return {};
}

void SseReader::EndLine(std::vector<SseEvent>& events) {
  std::string_view line = line_;
  if (at_start_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  at_start_ = false;
  if (line.empty()) {
    if (has_data_) events.push_back(std::move(event_));
    event_ = {};
    has_data_ = false;
  } else {
    const size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
      if (has_data_) event_.data += '\n';
      event_.data += value;
      has_data_ = true;
    } else if (field == "event") {
      event_.name = value;
    }
  }
  line_.clear();
}

}  // namespace samebit::http
