// One line of JSON per answered request, with OpenTelemetry's GenAI names. No answer, no key, and no prompt
// unless the operator asks for it (--log-prompts).
#pragma once

#include <string>
#include <vector>

#include "server/metrics.h"

namespace samebit::server {

struct AccessRecord {
  std::string request_id, method, path, peer, user_agent, key_name, model;
  std::vector<std::string> finish_reasons;  // of the choices, in order
  uint64_t body_bytes = 0;
  std::string body;  // empty: not asked for
  bool client_left = false;
  bool streamed = false;
  int64_t unix_ns = 0;  // when it came
  RequestCounts counts;
};

std::string AccessLine(const AccessRecord& record);

}  // namespace samebit::server
