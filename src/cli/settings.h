// The settings of a command from three places, by one list, its flag table: a flag wins over the environment, the
// environment over the file, the file over the default.
//
//   --max-sequences 8        on the command line
//   SAMEBIT_MAX_SEQUENCES=8  in the environment; values of a list with commas between them, switches as true or false
//   max-sequences: 8         in the file that --config or SAMEBIT_CONFIG names; lists as YAML lists
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/flag_table.h"

namespace samebit::cli {

inline constexpr std::string_view kEnvironmentPrefix = "SAMEBIT_";

// One value as it was typed.
struct GivenValue {
  std::string flag;  // as in the table: "--port", "MODEL"
  std::string value;
};

enum class Origin { kDefault, kFile, kEnvironment, kCommandLine };
const char* OriginName(Origin origin);  // "default", "file", "environment", "command line"

struct Setting {
  std::string name = {};                 // in the file: "port", "model"
  std::vector<std::string> values = {};  // as they were written; none: the default
  Origin origin = Origin::kDefault;
  std::string where = {};     // "--port", "SAMEBIT_PORT", "serve.yaml line 3"
  std::string fallback = {};  // the default in the help's words
};

std::string FileName(const Flag& flag);         // "max-sequences"
std::string EnvironmentName(const Flag& flag);  // "SAMEBIT_MAX_SEQUENCES"

// The flag whose value is the path of the file. Flags for the command that reads settings.
Flag ConfigFlag(std::optional<std::string>* target);

// Calls `set` of the flags that the command line left alone and the environment or the file does not; gives back all
// settings in the table's order. `given` is what the command line has set already; `environment` holds every variable with
// the prefix. Failures: those of reading and parsing the file; kInvalidArgument (a name that no flag has, a wrong value,
// each with its place; a required value that is nowhere).
Result<std::vector<Setting>> CompleteSettings(const std::vector<Flag>& flags, const std::vector<GivenValue>& given,
                                              const std::vector<std::pair<std::string, std::string>>& environment);

// For people (a table) and for programs.
std::string SettingsText(const std::vector<Setting>& settings);
std::string SettingsJson(const std::vector<Setting>& settings);

}  // namespace samebit::cli
