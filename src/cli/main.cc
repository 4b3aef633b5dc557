// samebit: the command line. A list of steps: know the outside, read the command line, run the command, say how it
// went.
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/report_failure.h"
#include "cli/terminal.h"

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
  const Result<cli::ExitCode> outcome = std::get<cli::Command*>(parsed.value())->Run(outside);
  return outcome.ok() ? static_cast<int>(outcome.value()) : cli::ReportFailure(outcome.error(), arguments);
}
