// The part of `samebit replay` that asks a server: its flags, and the run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "verify/remote/replay_remote.h"

namespace samebit::cli {

struct ReplayUrlFlags {
  std::optional<std::string> url, model, api_key_variable, restart_command, endpoint;
  std::optional<uint32_t> in_flight, stall_seconds;

  std::vector<Flag> flags();
  // The first of these flags that was given without --url; "": none.
  std::string GivenWithoutUrl() const;

  // `options` comes with what does not depend on the server. Failures: kInvalidArgument, and RunRemoteReplay's.
  Result<verify::ReplayReport> Measure(verify::RemoteReplayOptions options, const verify::ReplayHooks& hooks) const;
};

}  // namespace samebit::cli
