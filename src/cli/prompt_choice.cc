#include "cli/prompt_choice.h"

#include <algorithm>
#include <charconv>

#include "base/json_reader.h"
#include "base/limits.h"
#include "base/valid_utf8.h"
#include "cli/prompt_file.h"
#include "contract/prompt_template_digest.h"
#include "server/prompt_templates.h"
#include "world/file.h"

namespace samebit::cli {
namespace {

Error Invalid(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

std::string Tag(const PromptTemplate& prompt) { return prompt.name + "@" + prompt.version; }

template <class T>
std::optional<T> Parse(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What was typed, as the variable's type would have it; a text where it cannot be that, so that the check says why.
PromptValue Typed(const PromptTemplate& prompt, const std::string& name, const std::string& text) {
  const auto found = std::find_if(prompt.variables.begin(), prompt.variables.end(),
                                  [&](const PromptVariable& variable) { return variable.name == name; });
  if (found == prompt.variables.end()) return text;
  if (found->type == PromptVariableType::kInteger) {
    if (const auto whole = Parse<int64_t>(text)) return *whole;
  } else if (found->type == PromptVariableType::kNumber) {
    if (const auto number = Parse<double>(text)) return *number;
  } else if (found->type == PromptVariableType::kBoolean && (text == "true" || text == "false")) {
    return text == "true";
  }
  return text;
}

Status Put(PromptValues& values, const std::string& name, PromptValue value) {
  for (const auto& [known, unused] : values)
    if (known == name) return Invalid("the variable " + name.substr(0, 64) + " is given twice");
  values.emplace_back(name, std::move(value));
  return {};
}

Status ReadValueFile(const std::string& path, PromptValues& values) {
  ASSIGN_OR_RETURN(const std::string text, world::ReadWholeFile(path, limits::kPromptBytesMax));
  ASSIGN_OR_RETURN(const boost::json::value body, ReadJson(text, path));
  if (!body.is_object()) return Invalid(path + ": expected an object of values");
  for (const auto& member : body.get_object()) {
    const std::string name(member.key());
    const boost::json::value& value = member.value();
    if (value.is_string())
      RETURN_IF_ERROR(Put(values, name, std::string(value.get_string())));
    else if (value.is_bool())
      RETURN_IF_ERROR(Put(values, name, value.get_bool()));
    else if (value.is_int64())
      RETURN_IF_ERROR(Put(values, name, value.get_int64()));
    else if (value.is_number())
      RETURN_IF_ERROR(Put(values, name, value.to_number<double>()));
    else
      return Invalid(path + ": " + name.substr(0, 64) + ": expected a string, a number or a boolean");
  }
  return {};
}

}  // namespace

Result<std::vector<LoadedPrompt>> LoadPrompts(const std::vector<std::string>& paths) {
  std::vector<LoadedPrompt> prompts;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<std::string> files, PromptFilesAt(path));
    for (const std::string& file : files) {
      LoadedPrompt loaded;
      loaded.path = file;
      ASSIGN_OR_RETURN(loaded.prompt, LoadPromptTemplate(file));
      for (const LoadedPrompt& other : prompts) {
        if (other.prompt.name == loaded.prompt.name &&
            server::CompareVersions(other.prompt.version, loaded.prompt.version) == 0)
          return Invalid(file + ": " + Tag(loaded.prompt) + " stands in " + other.path + " already");
      }
      loaded.sha256 = contract::PromptTemplateSha256(loaded.prompt);
      prompts.push_back(std::move(loaded));
    }
  }
  return prompts;
}

Result<LoadedPrompt> ChoosePrompt(std::vector<LoadedPrompt> prompts, const std::optional<std::string>& wanted) {
  std::string list;
  std::vector<LoadedPrompt> fitting;
  for (LoadedPrompt& loaded : prompts) {
    list += (list.empty() ? "" : ", ") + Tag(loaded.prompt);
    if (!wanted || *wanted == loaded.prompt.name || *wanted == Tag(loaded.prompt)) fitting.push_back(std::move(loaded));
  }
  if (fitting.size() == 1) return std::move(fitting.front());
  if (fitting.empty()) return Invalid("--template: there is no '" + wanted->substr(0, 64) + "'; there is " + list);
  return Invalid("--template NAME@VERSION: say which one of " + list);
}

Result<PromptValues> ReadPromptValues(const PromptTemplate& prompt, const std::vector<std::string>& settings,
                                      const std::optional<std::string>& values_path) {
  PromptValues values;
  if (values_path) RETURN_IF_ERROR(ReadValueFile(*values_path, values));
  for (const std::string& setting : settings) {
    const size_t at = setting.find('=');
    if (at == std::string::npos || at == 0) return Invalid("--set: expected NAME=VALUE, found " + setting.substr(0, 64));
    if (ValidUtf8(setting) != setting) return Invalid("--set: " + setting.substr(0, at) + ": it is not UTF-8");
    const std::string name = setting.substr(0, at);
    RETURN_IF_ERROR(Put(values, name, Typed(prompt, name, setting.substr(at + 1))));
  }
  return values;
}

}  // namespace samebit::cli
