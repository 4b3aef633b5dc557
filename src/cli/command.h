// What a command is. One file per command; the list of them stands in command_list.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/flag_table.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "world/clock.h"
#include "world/entropy.h"

namespace samebit::cli {

// The world outside, handed to every command.
struct Outside {
  const world::Clock& clock;
  world::Entropy& entropy;
  Terminal terminal;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;             // one line of the list of commands
  virtual std::string examples() const { return ""; }  // behind the flags in --help
  virtual bool hidden() const { return false; }
  virtual std::vector<Flag> flags() = 0;  // targets live in the command
  // Its flags may also be set by the environment and by a file (settings.h); then TakeSettings comes before Run.
  virtual bool reads_settings() const { return false; }
  virtual void TakeSettings(std::vector<Setting> /*settings*/) {}
  // An Error becomes one sentence on standard error (and JSON where asked) and its exit code.
  virtual Result<ExitCode> Run(const Outside& outside) = 0;
};

// In the order of --help. `help` and `version` are among them.
std::vector<std::unique_ptr<Command>> MakeCommands();

std::unique_ptr<Command> MakeRunCommand();
std::unique_ptr<Command> MakeServeCommand();
std::unique_ptr<Command> MakeEmbedCommand();
std::unique_ptr<Command> MakeReplayCommand();
std::unique_ptr<Command> MakeReplayChildCommand();
std::unique_ptr<Command> MakeSoakCommand();
std::unique_ptr<Command> MakeBenchCommand();
std::unique_ptr<Command> MakePromptCommand();
std::unique_ptr<Command> MakeDoctorCommand();
std::unique_ptr<Command> MakeVersionCommand();

}  // namespace samebit::cli
