#include "cli/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>

#include "model/describe.h"

namespace samebit::cli {
namespace {

using Parsed = std::variant<ParsedCommand, HelpText>;

Error Usage(const std::string& command, const std::string& sentence) {
  const std::string program = command.empty() ? "samebit" : "samebit " + command;
  return {ErrorCode::kInvalidArgument, sentence + "; see `" + program + " --help`"};
}

// given: what is set goes there too; must outlive the parse.
void AddFlag(CLI::App& app, const Flag& flag, std::vector<GivenValue>& given) {
  // CLI11 reports a wrong value by exception; it is caught in ParseCommandLine.
  const auto set = [flag, &given](const std::string& value) {
    const Status status = flag.set(value);
    if (!status.ok()) throw CLI::ValidationError(flag.name, status.error().message);
    given.push_back({flag.name, value});
  };
  CLI::Option* option = nullptr;
  if (IsSwitch(flag)) {
    option = app.add_flag_callback(flag.name, [set] { set(""); }, flag.help);
  } else {
    option = app.add_option(
        flag.name,
        [set](const CLI::results_t& values) {
          for (const std::string& value : values) set(value);
          return true;
        },
        flag.help);
    option->expected(1)->allow_extra_args(false)->type_name(flag.value);
    if (flag.repeatable) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (flag.repeatable && IsPositional(flag)) option->expected(-1);  // one or more
  }
  if (flag.required) option->required();
  if (!flag.group.empty()) option->group(flag.group);
}

std::string FirstUnknown(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  return rest.empty() ? "" : rest.front();
}

// The sentence for what CLI11 found wrong.
Error Explain(const CLI::ParseError& error, const CLI::App& root,
              const std::vector<std::unique_ptr<Command>>& commands) {
  const std::vector<CLI::App*> chosen = root.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name();
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string unknown = FirstUnknown(root);
  // A slip in a flag's name leaves the right one missing: the slip is what to tell.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || (is_missing && unknown.starts_with("-"))) {
    std::vector<std::string> names;
    if (chosen.empty()) {
      for (const auto& one : commands) names.push_back(one->name());
      const auto nearest = NearestName(unknown, names);
      return Usage("", (unknown.starts_with("-") ? "unknown flag " : "unknown command ") + model::Printable(unknown) +
                           (nearest ? "; did you mean `samebit " + *nearest + "`?" : ""));
    }
    if (!unknown.starts_with("-")) {
      return Usage(command,
                   "unexpected argument " + model::Printable(unknown) + "; put quotes around a text with spaces");
    }
    for (const CLI::Option* option : chosen.front()->get_options()) names.push_back(option->get_name());
    const std::string bare = unknown.substr(0, unknown.find('='));
    const auto nearest = NearestName(bare, names);
    return Usage(command,
                 "unknown flag " + model::Printable(bare) + (nearest ? "; did you mean " + *nearest + "?" : ""));
  }
  if (is_missing) {
    if (command.empty()) return Usage("", "say which command to run");
    return Usage(command, "an argument is missing: " + std::string(error.what()));
  }
  return Usage(command, error.what());
}

}  // namespace

Result<Parsed> ParseCommandLine(const std::vector<std::unique_ptr<Command>>& commands,
                                const std::vector<std::string>& arguments) {
  CLI::App root("samebit: a language model server whose answers are the same bits every time.", "samebit");
  std::vector<GivenValue> given;
  root.require_subcommand(0, 1);
  root.footer("Exit codes: 0 holds, 1 does not hold, 2 usage or bad input, 3 could not be measured.");
  for (const auto& command : commands) {
    CLI::App* app = root.add_subcommand(command->name(), command->summary());
    if (command->hidden()) app->group("");
    app->footer(command->examples());
    app->get_formatter()->column_width(32);
    for (Flag& flag : command->flags()) {
      if (command->reads_settings()) flag.required = false;  // it may stand in the file
      AddFlag(*app, flag, given);
    }
  }

  // `samebit help run` is `samebit run --help`.
  std::vector<std::string> words = arguments;
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.resize(std::min<size_t>(words.size(), 1));
    words.push_back("--help");
  }
  if (words.empty()) words.push_back("--help");

  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    root.parse(words);
  } catch (const CLI::CallForHelp&) {
    return Parsed(HelpText{root.help()});
  } catch (const CLI::ParseError& error) {
    return Explain(error, root, commands);
  }
  for (const auto& command : commands) {
    if (root.got_subcommand(command->name())) return Parsed(ParsedCommand{command.get(), std::move(given)});
  }
  return Usage("", "say which command to run");
}

}  // namespace samebit::cli
