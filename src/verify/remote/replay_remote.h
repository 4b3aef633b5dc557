// The replay matrix against a server that speaks OpenAI's interface: ours, or anybody's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "http/url.h"
#include "verify/prompt.h"
#include "verify/remote/remote_answerer.h"
#include "verify/remote/wire.h"
#include "verify/replay.h"

namespace samebit::verify {

struct RemoteReplayOptions {
  http::Url url;
  std::string model;                 // "": the only one that the server lists
  std::string api_key;               // "": none
  std::optional<Endpoint> endpoint;  // absent: chat, else completions; SGLang's own for SGLang
  std::vector<Prompt> prompts;       // empty: the built-in set
  std::string prompt_set = "built-in";  // how the report calls them
  PlanKind plan = PlanKind::kQuick;  // as in ReplayOptions, and so are the next three
  uint64_t seed = 42;
  std::vector<Axis> axes;
  std::string version;
  uint32_t in_flight_max = 32;
  uint32_t stall_seconds = limits::kServerStallSeconds;
  ServerRestart restart;             // null: the axis process is left out
};

// Of the hooks: clock, progress, cancelled. Failures: the probe's, kInvalidArgument (an axis that a client cannot
// move), kCancelled, kIo where the server stops answering. Cells that get no answers are "not
// measured" in the report.
Result<ReplayReport> RunRemoteReplay(const RemoteReplayOptions& options, const ReplayHooks& hooks);

}  // namespace samebit::verify
