#include "cli/settings.h"

#include <algorithm>
#include <map>

#include "base/json_writer.h"
#include "base/limits.h"
#include "cli/config_file.h"
#include "model/describe.h"
#include "world/file.h"

namespace samebit::cli {
namespace {

constexpr std::string_view kConfigName = "--config";
// Variables of the scripts around this program (./try, ./check), which may be set for their own reasons.
constexpr std::string_view kVariablesOfScripts[] = {"SAMEBIT_JOBS", "SAMEBIT_CARGO"};

struct Source {
  std::vector<std::string> values;
  bool is_list = false;
  Origin origin = Origin::kDefault;
  std::string where;
};
using Sources = std::map<std::string, Source>;  // by the flag's name in the table

Error Wrong(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

std::string Translated(std::string_view name, char (*translate)(char)) {
  while (name.starts_with('-')) name.remove_prefix(1);
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), translate);
  return out;
}

// The flag that is called so in the file or the environment; where none is, what is wrong with the name.
Result<const Flag*> FindFlag(const std::vector<Flag>& flags, const std::string& name, std::string (*name_of)(const Flag&),
                             const std::string& what) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) {
    if (name_of(flag) == name) {
      if (!flag.only_on_command_line) return &flag;
      return Wrong(what + " " + model::Printable(name) + " is for the command line only");
    }
    if (!flag.only_on_command_line) names.push_back(name_of(flag));
  }
  const auto nearest = NearestName(name, names);
  return Wrong("unknown " + what + " " + model::Printable(name) + (nearest ? "; did you mean " + *nearest + "?" : ""));
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status ReadEnvironment(const std::vector<Flag>& flags,
                       const std::vector<std::pair<std::string, std::string>>& environment, Sources& sources) {
  for (const auto& [name, value] : environment) {
    if (std::find(std::begin(kVariablesOfScripts), std::end(kVariablesOfScripts), name) != std::end(kVariablesOfScripts))
      continue;
    ASSIGN_OR_RETURN(const Flag* flag, FindFlag(flags, name, EnvironmentName, "environment variable"));
    // The command line has it.
    if (sources.contains(flag->name)) continue;
    Source source;
    source.values = flag->repeatable ? SplitAtCommas(value) : std::vector<std::string>{value};
    source.origin = Origin::kEnvironment;
    source.where = name;
    sources[flag->name] = std::move(source);
  }
  return {};
}

Status ReadFile(const std::vector<Flag>& flags, Sources& sources) {
  const auto config = sources.find(std::string(kConfigName));
  if (config == sources.end()) return {};
  const std::string path = config->second.values.back();
  ASSIGN_OR_RETURN(const std::string text, world::ReadWholeFile(path, limits::kConfigFileBytesMax));
  ASSIGN_OR_RETURN(const std::vector<FileSetting> settings, ParseConfigFile(text, path));
  for (const FileSetting& setting : settings) {
    const std::string where = path + ":" + std::to_string(setting.line);
    const Result<const Flag*> flag = FindFlag(flags, setting.name, FileName, "setting");
    if (!flag.ok()) return Wrong(where + ": " + flag.error().message);
    if ((*flag)->name == kConfigName) return Wrong(where + ": a configuration file cannot name another one");
    if (setting.is_list && !(*flag)->repeatable)
      return Wrong(where + ": " + setting.name + ": expected one value, found a list");
    if (sources.contains((*flag)->name)) continue;
    sources[(*flag)->name] = {setting.values, setting.is_list, Origin::kFile, where};
  }
  return {};
}

Status Set(const Flag& flag, const Source& source) {
  const auto wrong = [&](const std::string& message) {
    return Wrong(source.where + ": " + (source.origin == Origin::kFile ? FileName(flag) + ": " : "") + message);
  };
  for (const std::string& value : source.values) {
    if (IsSwitch(flag)) {
      if (value != "true" && value != "false")
        return wrong("expected true or false, found " + model::Printable(value));
      if (value == "false") continue;
    }
    const Status status = flag.set(IsSwitch(flag) ? std::string_view() : std::string_view(value));
    if (!status.ok()) return wrong(status.error().message);
  }
  return {};
}

// In quotes only where it would not be one word.
std::string Shown(const std::string& value) {
  const std::string quoted = model::Printable(value);
  const bool is_word = !value.empty() && value.find(' ') == std::string::npos && quoted.size() == value.size() + 2;
  return is_word ? value : quoted;
}

// 127.0.0.1; [a, b]; a default in its own words.
std::string ValueText(const Setting& setting) {
  if (setting.origin == Origin::kDefault) return setting.fallback.empty() ? "-" : setting.fallback;
  std::string text;
  for (const std::string& value : setting.values) text += (text.empty() ? "" : ", ") + Shown(value);
  return setting.values.size() == 1 ? text : "[" + text + "]";
}

}  // namespace

const char* OriginName(Origin origin) {
  switch (origin) {
    case Origin::kDefault: return "default";
    case Origin::kFile: return "file";
    case Origin::kEnvironment: return "environment";
    case Origin::kCommandLine: return "command line";
  }
  return "";
}

std::string FileName(const Flag& flag) {
  return Translated(flag.name, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}

std::string EnvironmentName(const Flag& flag) {
  return std::string(kEnvironmentPrefix) + Translated(flag.name, [](char c) {
    if (c == '-') return '_';
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
}

Flag ConfigFlag(std::optional<std::string>* target) {
  return Text(std::string(kConfigName), "FILE", target,
              "settings as `name: value` in YAML, named as the flags are; a flag wins over the environment "
              "(SAMEBIT_PORT for --port), the environment over the file");
}

Result<std::vector<Setting>> CompleteSettings(const std::vector<Flag>& flags, const std::vector<GivenValue>& given,
                                              const std::vector<std::pair<std::string, std::string>>& environment) {
  Sources sources;
  for (const GivenValue& one : given) {
    Source& source = sources[one.flag];
    source.values.push_back(one.value);
    source.origin = Origin::kCommandLine;
    source.where = one.flag;
  }
  RETURN_IF_ERROR(ReadEnvironment(flags, environment, sources));
  RETURN_IF_ERROR(ReadFile(flags, sources));

  std::vector<Setting> settings;
  for (const Flag& flag : flags) {
    const auto found = sources.find(flag.name);
    if (found == sources.end() && flag.required) {
      return Wrong("a value is missing: " + flag.name + "; give it on the command line, as " + EnvironmentName(flag) +
                   " or as `" + FileName(flag) + ":` in the file of --config");
    }
    Setting setting = {.name = FileName(flag), .fallback = FallbackOf(flag)};
    if (found != sources.end()) {
      const Source& source = found->second;
      if (source.origin != Origin::kCommandLine) RETURN_IF_ERROR(Set(flag, source));
      setting.values = source.values;
      if (IsSwitch(flag) && source.origin == Origin::kCommandLine) setting.values = {"true"};
      setting.origin = source.origin;
      setting.where = source.where;
    }
    if (IsSwitch(flag)) setting.fallback = "false";
    if (!flag.only_on_command_line) settings.push_back(std::move(setting));
  }
  return settings;
}

std::string SettingsText(const std::vector<Setting>& settings) {
  size_t name_width = 0, value_width = 0;
  for (const Setting& setting : settings) {
    name_width = std::max(name_width, setting.name.size());
    value_width = std::max(value_width, std::min<size_t>(ValueText(setting).size(), 40));
  }
  std::string out;
  for (const Setting& setting : settings) {
    std::string line = setting.name;
    line.resize(name_width + 2, ' ');
    line += ValueText(setting);
    if (line.size() < name_width + value_width + 2) line.resize(name_width + value_width + 2, ' ');
    line += std::string("  ") + (setting.where.empty() ? OriginName(setting.origin) : setting.where);
    out += line + "\n";
  }
  return out;
}

std::string SettingsJson(const std::vector<Setting>& settings) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("samebit.settings/1").Key("settings").BeginArray();
  for (const Setting& setting : settings) {
    json.BeginObject().Key("name").Text(setting.name).Key("values").BeginArray();
    for (const std::string& value : setting.values) json.Text(value);
    json.EndArray().Key("from").Text(OriginName(setting.origin)).Key("where").Text(setting.where);
    json.Key("default").Text(setting.fallback).EndObject();
  }
  json.EndArray().EndObject();
  return json.Finish() + "\n";
}

}  // namespace samebit::cli
