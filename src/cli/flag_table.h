// The flag table: each command lists its flags as data, and the list feeds the parser, --help, the error sentences and,
// for a command that reads settings (settings.h), the environment and the configuration file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::cli {

struct Flag {
  std::string name = {};   // "--top-k"; without dashes ("MODEL"): an argument by position
  std::string value = {};  // how the value is called in --help, "N"; empty: a switch
  std::string help = {};   // one sentence; what holds where nobody sets it stands at its end: "(default 8080)"
  std::function<Status(std::string_view value)> set = {};  // called once per use; a switch gets an empty value
  bool required = false;
  bool repeatable = false;
  bool only_on_command_line = false;  // asks for something now; no setting
  std::string group = {};  // heading in --help
};

// The kinds of flags. Targets must outlive the parse.
Flag Switch(std::string name, bool* target, bool value_when_given, std::string help);
Flag Whole(std::string name, std::optional<uint32_t>* target, uint32_t min, uint32_t max, std::string help);
Flag Whole64(std::string name, std::optional<uint64_t>* target, std::string help);
Flag Number(std::string name, std::optional<float>* target, float min, float max, std::string help);
Flag Text(std::string name, std::string value, std::optional<std::string>* target, std::string help);
Flag TextList(std::string name, std::string value, std::vector<std::string>* target, std::string help);

inline Flag Required(Flag flag) {
  flag.required = true;
  return flag;
}

inline Flag OnlyOnCommandLine(Flag flag) {
  flag.only_on_command_line = true;
  return flag;
}

// "MODEL" is an argument by position, "--port" is not.
inline bool IsPositional(const Flag& flag) { return !flag.name.starts_with("-"); }
inline bool IsSwitch(const Flag& flag) { return flag.value.empty() && !IsPositional(flag); }
// What the help says in "(default X)" or "(default: X)"; empty: nothing.
std::string FallbackOf(const Flag& flag);

// Puts a heading over flags in --help.
std::vector<Flag> Grouped(std::string group, std::vector<Flag> flags);
void Append(std::vector<Flag>& flags, std::vector<Flag> more);

// The name that is closest to what was typed, if it is close enough to be a slip of the finger.
std::optional<std::string> NearestName(std::string_view typed, const std::vector<std::string>& names);

}  // namespace samebit::cli
