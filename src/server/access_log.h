// One line of JSON per answered request, with OpenTelemetry's GenAI names. No prompt, no answer, no key.
#pragma once

#include <string>

#include "server/metrics.h"

namespace samebit::server {

struct AccessRecord {
  std::string request_id, method, path, peer, key_name, model, error_code;
  bool client_left = false;
  bool streamed = false;
  int64_t unix_ns = 0;  // when it came
  RequestCounts counts;
};

std::string AccessLine(const AccessRecord& record);

}  // namespace samebit::server
