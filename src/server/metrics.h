// What is counted, in Prometheus' text form; vLLM's names where they mean the same, with our prefix. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "server/engine_thread.h"
#include "server/histogram.h"

namespace samebit::server {

// Upper bounds of the histograms. Times: vLLM's bounds, thinned out.
inline constexpr std::array<double, 13> kSecondsBounds = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                          0.5,   1,     2.5,  5,     10,   60};
inline constexpr std::array<double, 13> kTokenCountBounds = {1,   2,    5,    10,   20,    50,    100,
                                                             200, 500, 1000, 5000, 20000, 100000};
// Largest logit minus the second largest. 0 is a tie; below some 1e-4 another engine's rounding may choose the other token.
inline constexpr std::array<double, 12> kMarginBounds = {0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1, 2, 5, 10};

// Why a choice ended, as clients are told.
inline constexpr std::array<const char*, 3> kFinishReasons = {"stop", "length", "tool_calls"};
using FinishCounts = std::array<uint64_t, kFinishReasons.size()>;

// What one finished HTTP request adds.
struct RequestCounts {
  std::string route;
  int status = 200;
  std::string refusal;     // the contract's code, or empty
  std::string error_code;  // of the error object, or empty
  uint64_t prompt_tokens = 0;
  uint64_t completion_tokens = 0;
  uint64_t cached_tokens = 0;
  FinishCounts finished = {};  // choices, by kFinishReasons
  double seconds = 0;
  double first_token_seconds = -1;  // streams; under 0: none
  Histogram inter_token{kSecondsBounds};  // streams: between the steps that brought tokens
  Histogram margins{kMarginBounds};       // of the answers' tokens
};

class Metrics {
 public:
  void Count(const RequestCounts& counts);
  std::string Text(const EngineLoad& load, size_t connections) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, uint64_t> refusals_, errors_;
  uint64_t prompt_tokens_ = 0, completion_tokens_ = 0;
  FinishCounts finished_ = {};
  Histogram seconds_{kSecondsBounds}, first_token_{kSecondsBounds}, inter_token_{kSecondsBounds},
      per_output_token_{kSecondsBounds}, prompt_sizes_{kTokenCountBounds}, answer_sizes_{kTokenCountBounds},
      margins_{kMarginBounds};
};

}  // namespace samebit::server
