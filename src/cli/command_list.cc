#include "cli/command.h"

namespace samebit::cli {

std::vector<std::unique_ptr<Command>> MakeCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeRunCommand());
  commands.push_back(MakeServeCommand());
  commands.push_back(MakeEmbedCommand());
  commands.push_back(MakeReplayCommand());
  commands.push_back(MakeSoakCommand());
  commands.push_back(MakeBenchCommand());
  commands.push_back(MakePromptCommand());
  commands.push_back(MakeDoctorCommand());
  commands.push_back(MakeVersionCommand());
  commands.push_back(MakeReplayChildCommand());
  return commands;
}

}  // namespace samebit::cli
