// What a server may do differently without asking: the axes of the replay matrix. Plain data, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace samebit::verify {

enum class Axis : uint8_t {
  kConcurrency,     // requests in flight: 1, 8, 32, peak
  kPromptLength,    // short, medium, near the context limit
  kOutputLength,    // 16, 128, 1024
  kBatchShape,      // uniform or mixed
  kNeighbours,      // greedy or hot
  kPrefillChunk,    // whole, or in pieces of 1, 7, 64, 512
  kPrefixCache,     // off, cold, warm
  kPreemption,      // forced
  kTensorParallel,  // 1, 2, 4
  kThreads,
  kIsa,             // every instruction set of this machine
  kProcess,         // same, restarted, redeployed
  kPageTokens,      // 16, 32, 64, 128, 256
  kOrder,           // order of the requests
  kSamples,         // n
  kStreaming,       // whole or streamed; of a server
  kRepeat,          // first call, nth call; of a server
};

// In the order of reports.
const std::vector<Axis>& AllAxes();
const char* AxisName(Axis axis);   // "concurrency": in JSON, JUnit and on the command line
const char* AxisTitle(Axis axis);  // "requests in flight": for people
std::optional<Axis> ParseAxis(std::string_view name);

}  // namespace samebit::verify
