// samebit: the command line. A list of steps: know the outside, read the command line, fill in from environment and
// file, run the command, say how it went.
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/report_failure.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "world/environment.h"

int main(int argc, char** argv) {
  using namespace samebit;
  const world::RealClock clock;
  world::RealEntropy entropy;
  const cli::Outside outside = {clock, entropy, cli::DetectTerminal()};

  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto commands = cli::MakeCommands();
  const auto parsed = cli::ParseCommandLine(commands, arguments);
  if (!parsed.ok()) return cli::ReportFailure(parsed.error(), arguments);

  if (const auto* help = std::get_if<cli::HelpText>(&parsed.value())) {
    cli::WriteOut(help->text);
    return static_cast<int>(cli::ExitCode::kHolds);
  }
  const auto& [command, given] = std::get<cli::ParsedCommand>(parsed.value());
  if (command->reads_settings()) {
    auto settings = cli::CompleteSettings(command->flags(), given, world::EnvironmentVariables(cli::kEnvironmentPrefix));
    if (!settings.ok()) return cli::ReportFailure(settings.error(), arguments);
    command->TakeSettings(std::move(settings).value());
  }
  const Result<cli::ExitCode> outcome = command->Run(outside);
  return outcome.ok() ? static_cast<int>(outcome.value()) : cli::ReportFailure(outcome.error(), arguments);
}
