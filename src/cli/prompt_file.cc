#include "cli/prompt_file.h"

#include <algorithm>

#include "base/limits.h"
#include "cli/prompt_fields.h"
#include "world/file.h"

namespace samebit::cli {
namespace {

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= limits::kPromptNameBytesMax && text.front() != '.' && text.front() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos;
}

// "2", "1.4.0": one to four numbers of at most nine digits.
bool IsVersion(const std::string& text) {
  size_t digits = 0, numbers = 1;
  for (const char c : text) {
    if (c == '.') {
      if (digits == 0 || ++numbers > 4) return false;
      digits = 0;
    } else if (c < '0' || c > '9' || ++digits > 9) {
      return false;
    }
  }
  return digits > 0;
}

void ReadNameAndVersion(PromptFields& fields, PromptTemplate& prompt) {
  prompt.name = fields.Text("name", PromptFields::kRequired);
  if (!prompt.name.empty() && !IsName(prompt.name))
    fields.Problem("name", "schema", "the name '" + prompt.name.substr(0, 64) + "' is not of the form of names",
                   "use up to 64 of a-z, 0-9, '.', '_' and '-'");
  if (!fields.Has("version")) {
    fields.Problem("", "unpinned-version", "it has no version, so a request cannot say which text it means",
                   "add `version: 1`, and raise it with every change");
    return;
  }
  prompt.version = fields.Text("version", PromptFields::kRequired);
  if (!IsVersion(prompt.version))
    fields.Problem("version", "unpinned-version",
                   "the version '" + prompt.version.substr(0, 64) + "' names no fixed text: versions are numbers",
                   "write a number, or numbers with dots between, and raise it with every change");
}

std::vector<PromptExample> ReadExamples(PromptFields& fields, const std::string& key, bool has_why) {
  std::vector<PromptExample> examples;
  for (PromptFields& one : fields.Maps(key, limits::kPromptExamplesMax)) {
    PromptExample example;
    example.user = one.Text("user", PromptFields::kRequired);
    example.assistant = one.Text("assistant", PromptFields::kRequired);
    if (has_why) example.why = one.Text("why");
    one.RefuseOthers();
    examples.push_back(std::move(example));
  }
  return examples;
}

std::optional<PromptOutput> ReadOutput(PromptFields& fields) {
  std::optional<PromptFields> map = fields.Map("output");
  if (!map) return std::nullopt;
  static constexpr std::pair<const char*, PromptFormat> kFormats[] = {
      {"text", PromptFormat::kText},       {"json", PromptFormat::kJson},     {"choice", PromptFormat::kChoice},
      {"integer", PromptFormat::kInteger}, {"number", PromptFormat::kNumber}, {"line", PromptFormat::kLine}};
  PromptOutput output;
  const std::string format = map->Text("format", PromptFields::kRequired);
  const auto* found =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const auto& one) { return format == one.first; });
  if (found != std::end(kFormats))
    output.format = found->second;
  else
    map->Problem("format", "schema", "there is no output format '" + format.substr(0, 64) + "'",
                 "use text, line, json, choice, integer or number");
  output.instruction = map->Text("instruction", PromptFields::kRequired);
  output.keys = map->Texts("keys", limits::kPromptChoicesMax);
  output.choices = map->Texts("choices", limits::kPromptChoicesMax);
  if (!output.keys.empty() && output.format != PromptFormat::kJson)
    map->Problem("keys", "schema", "keys are those of an object", "use them with `format: json`");
  if (output.choices.empty() == (output.format == PromptFormat::kChoice))
    map->Problem("choices", "schema", "`format: choice` and a list of choices belong together", "give both or none");
  map->RefuseOthers();
  return output;
}

// The texts as templates: each must parse, and ask for nothing but the variables.
void CheckTexts(PromptFields& fields, PromptFile& file) {
  for (const auto& [key, source] : {std::pair("system", &file.prompt.system), {"user", &file.prompt.user}}) {
    const YamlNode* node = file.tree.Find(key);
    if (node == nullptr) continue;
    const Result<std::vector<std::string>> names = text::NamesAskedFor(*source);
    if (!names.ok()) {
      fields.Problem(key, "syntax", "the text is no template: " + names.error().message, "correct it");
      continue;
    }
    for (const std::string& name : *names) {
      const bool is_known = std::any_of(file.prompt.variables.begin(), file.prompt.variables.end(),
                                        [&](const PromptVariable& variable) { return variable.name == name; });
      if (is_known) continue;
      const std::string rule = UndefinedRule(name);
      const std::string effect = rule == "clock"    ? ", which would make another prompt of it every day"
                                 : rule == "random" ? ", which would make another prompt of it every time"
                                                    : ", which is no variable";
      fields.ProblemAt(file.LineOf(*node, name), rule, "the text asks for '" + name.substr(0, 64) + "'" + effect,
                       "declare it under `variables:` and let the request give it, or take it out; of functions there "
                       "are range and namespace");
    }
  }
}

}  // namespace

uint32_t PromptFile::LineOf(const YamlNode& node, const std::string& text) const {
  if (text.empty()) return node.line;
  size_t at = 0;
  for (uint32_t line = 1; line < node.line && at != std::string::npos; ++line) {
    at = source.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  const size_t found = at == std::string::npos ? at : source.find(text, at);
  if (found == std::string::npos) return node.line;
  return node.line + static_cast<uint32_t>(std::count(source.begin() + static_cast<std::ptrdiff_t>(at),
                                                      source.begin() + static_cast<std::ptrdiff_t>(found), '\n'));
}

Result<PromptFile> ReadPromptFile(const std::string& path) {
  PromptFile file;
  file.path = path;
  ASSIGN_OR_RETURN(file.source, world::ReadWholeFile(path, limits::kPromptTemplateBytesMax));
  ASSIGN_OR_RETURN(file.tree, ReadYaml(file.source, path));
  if (file.tree.kind != YamlNode::Kind::kMap)
    return AtLine(path, 1, ErrorCode::kMalformed, "expected a map with name, version and user");
  PromptFields fields(file.tree, path, file.problems);
  PromptTemplate& prompt = file.prompt;
  ReadNameAndVersion(fields, prompt);
  prompt.description = fields.Text("description");
  prompt.system = fields.Text("system");
  prompt.user = fields.Text("user", PromptFields::kRequired);
  prompt.output = ReadOutput(fields);
  prompt.variables = ReadPromptVariables(fields);
  prompt.examples = ReadExamples(fields, "examples", false);
  prompt.negative_examples = ReadExamples(fields, "negative_examples", true);
  fields.RefuseOthers();
  CheckTexts(fields, file);
  return file;
}

Result<PromptTemplate> LoadPromptTemplate(const std::string& path) {
  ASSIGN_OR_RETURN(PromptFile file, ReadPromptFile(path));
  if (!file.problems.empty()) {
    const PromptFinding& first = file.problems.front();
    return AtLine(first.file, first.line, ErrorCode::kMalformed, first.why + "; " + first.fix);
  }
  return std::move(file.prompt);
}

Result<std::vector<std::string>> PromptFilesAt(const std::string& path) {
  if (world::KindOf(path) != world::PathKind::kFolder) return std::vector<std::string>{path};
  ASSIGN_OR_RETURN(const std::vector<std::string> names, world::ListFolder(path));
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.starts_with(".") || !(name.ends_with(".yaml") || name.ends_with(".yml"))) continue;
    paths.push_back(path + (path.ends_with("/") ? "" : "/") + name);
  }
  if (paths.empty()) return Error{ErrorCode::kInvalidArgument, path + ": the folder holds no .yaml file"};
  if (paths.size() > limits::kPromptTemplatesMax)
    return Error{ErrorCode::kTooLarge, path + ": " + std::to_string(paths.size()) + " files, at most " +
                                           std::to_string(limits::kPromptTemplatesMax) + " are taken"};
  return paths;
}

}  // namespace samebit::cli
