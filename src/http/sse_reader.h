// Server-sent events out of the bytes of a stream, however they are cut: the reader's half of text/event-stream.
// Not for: ids and retry times, which ask a browser to come back. Not thread safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace samebit::http {

struct SseEvent {
  std::string name;  // of "event:"; mostly empty
  std::string data;  // the lines of "data:", with line feeds between them
};

class SseReader {
 public:
  explicit SseReader(size_t event_bytes_max = limits::kSseEventBytesMax) : event_bytes_max_(event_bytes_max) {}

  // Appends the events that these bytes complete. Comments, unknown fields and events without data are passed over, as
  // the standard wants it. Failure: kTooLarge (a line, or an event, over the bound); then the reader is of no more use.
  Status Read(std::string_view bytes, std::vector<SseEvent>& events);

  // Nothing of an event has been read yet. False at the end of a stream: it was cut inside an event.
  bool between_events() const { return line_.empty() && !has_data_; }

 private:
  void EndLine(std::vector<SseEvent>& events);

  size_t event_bytes_max_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // the last byte was CR: a LF behind it belongs to the same end
  bool at_start_ = true;       // a byte order mark may stand there
};

}  // namespace samebit::http
