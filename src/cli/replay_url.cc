#include "cli/replay_url.h"

#include <algorithm>

#include "cli/child_process.h"
#include "model/describe.h"
#include "world/environment.h"

namespace samebit::cli {
namespace {

Result<std::optional<verify::Endpoint>> EndpointOf(const std::optional<std::string>& name) {
  if (!name) return std::optional<verify::Endpoint>();
  if (*name == "chat") return std::optional(verify::Endpoint::kChat);
  if (*name == "completions") return std::optional(verify::Endpoint::kCompletions);
  if (*name == "generate") return std::optional(verify::Endpoint::kGenerate);
  return Error{ErrorCode::kInvalidArgument,
               "--endpoint: expected chat, completions or generate, found " + model::Printable(*name)};
}

Result<std::string> KeyIn(const std::optional<std::string>& variable) {
  if (!variable) return std::string();
  const auto key = world::EnvironmentVariable(variable->c_str());
  if (!key || key->empty())
    return Error{ErrorCode::kInvalidArgument, "--api-key-env: expected a key in the variable " + model::Printable(*variable) +
                                                  ", found it " + (key ? "empty" : "not set")};
  if (std::any_of(key->begin(), key->end(), [](char c) { return c <= 0x20 || c >= 0x7f; }))
    return Error{ErrorCode::kInvalidArgument, "--api-key-env: expected a key of printable characters without blanks"};
  return *key;
}

}  // namespace

std::vector<Flag> ReplayUrlFlags::flags() {
  return Grouped("Server (instead of MODEL)",
                 {Text("--url", "URL", &url, "replay against a server: http://HOST:PORT or http://HOST:PORT/v1"),
                  Text("--model", "NAME", &model, "the model to ask for (default: the only one that it lists)"),
                  Text("--api-key-env", "VAR", &api_key_variable, "the environment variable that holds the key"),
                  Text("--restart-command", "COMMAND", &restart_command,
                       "restarts the server and returns; without it, restarts are not measured"),
                  Text("--endpoint", "NAME", &endpoint, "chat, completions, or generate (SGLang) (default: the first that answers)"),
                  Whole("--in-flight-max", &in_flight, 8, 32, "leave out cells with more requests at once (default 32)"),
                  Whole("--stall-seconds", &stall_seconds, 1, 86'400, "a server that sends nothing for so long is stuck (default 300)")});
}

std::string ReplayUrlFlags::GivenWithoutUrl() const {
  if (url) return "";
  if (model) return "--model";
  if (api_key_variable) return "--api-key-env";
  if (restart_command) return "--restart-command";
  if (endpoint) return "--endpoint";
  if (in_flight) return "--in-flight-max";
  return stall_seconds ? "--stall-seconds" : "";
}

Result<verify::ReplayReport> ReplayUrlFlags::Measure(verify::RemoteReplayOptions options,
                                                     const verify::ReplayHooks& hooks) const {
  ASSIGN_OR_RETURN(options.url, http::ParseUrl(*url));
  ASSIGN_OR_RETURN(options.api_key, KeyIn(api_key_variable));
  ASSIGN_OR_RETURN(options.endpoint, EndpointOf(endpoint));
  options.model = model.value_or("");
  options.in_flight_max = in_flight.value_or(options.in_flight_max);
  options.stall_seconds = stall_seconds.value_or(options.stall_seconds);
  if (restart_command) options.restart = [command = *restart_command] { return RunShellCommand(command); };
  return verify::RunRemoteReplay(options, hooks);
}

}  // namespace samebit::cli
