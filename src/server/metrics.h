// What is counted, in Prometheus' text form; vLLM's names where they mean the same, with our prefix. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "server/engine_thread.h"

namespace samebit::server {

// What one finished HTTP request adds.
struct RequestCounts {
  std::string route;
  int status = 200;
  std::string refusal;  // the contract's code, or empty
  uint64_t prompt_tokens = 0;
  uint64_t completion_tokens = 0;
  uint64_t cached_tokens = 0;
  std::array<uint64_t, 2> finished = {};  // choices that ended by "stop" and by "length"
  double seconds = 0;
  double first_token_seconds = -1;  // streams; under 0: none
};

class Metrics {
 public:
  void Count(const RequestCounts& counts);
  std::string Text(const EngineLoad& load, size_t connections) const;

 private:
  struct Histogram {
    std::array<uint64_t, 14> buckets = {};  // not cumulative; the last is +Inf
    double sum = 0;
    uint64_t count = 0;
    void Add(double seconds);
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, uint64_t> refusals_;
  uint64_t prompt_tokens_ = 0, completion_tokens_ = 0, cached_tokens_ = 0;
  std::array<uint64_t, 2> finished_ = {};
  Histogram seconds_, first_token_;
};

}  // namespace samebit::server
