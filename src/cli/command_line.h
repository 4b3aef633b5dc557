// argv -> the command to run with its flags set, or help, or one sentence about what is wrong.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace samebit::cli {

struct ParsedCommand {
  Command* command = nullptr;  // its targets are filled
  std::vector<GivenValue> given;
};

struct HelpText {
  std::string text;
};

// The command asked for, or the help that was asked for (--help, help [COMMAND]).
// That an argument is missing is said here only for commands that read no settings.
// Failure: kInvalidArgument, a sentence that says what to do.
Result<std::variant<ParsedCommand, HelpText>> ParseCommandLine(const std::vector<std::unique_ptr<Command>>& commands,
                                                               const std::vector<std::string>& arguments);

}  // namespace samebit::cli
