#include "cli/config_file.h"

#include "base/limits.h"
#include "cli/yaml_tree.h"
#include "model/describe.h"

namespace samebit::cli {
namespace {

Error Malformed(const std::string& where, uint32_t line, const std::string& sentence) {
  return AtLine(where, line, ErrorCode::kMalformed, sentence);
}

// What stands where a text should.
const char* KindName(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kText:
      return "a text";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "";
}

Result<FileSetting> SettingOf(const std::string& name, const YamlNode& value, const std::string& where) {
  FileSetting setting = {.name = name, .is_list = value.kind == YamlNode::Kind::kList, .line = value.key_line};
  if (value.kind == YamlNode::Kind::kNull)
    return Malformed(where, value.key_line,
                     model::Printable(name) + ": expected a value, found nothing (an empty text is \"\")");
  if (value.kind == YamlNode::Kind::kMap)
    return Malformed(where, value.line,
                     model::Printable(name) + ": expected a value, found a map; settings are not nested");
  if (value.kind == YamlNode::Kind::kText) setting.values.push_back(value.text);
  for (const YamlNode& one : value.list) {
    if (one.kind != YamlNode::Kind::kText)
      return Malformed(where, one.line, model::Printable(name) + ": expected a text, found " + KindName(one.kind));
    setting.values.push_back(one.text);
  }
  return setting;
}

}  // namespace

Result<std::vector<FileSetting>> ParseConfigFile(std::string_view text, const std::string& where) {
  if (text.size() > limits::kConfigFileBytesMax)
    return Error{ErrorCode::kTooLarge, where + ": expected at most " + std::to_string(limits::kConfigFileBytesMax) +
                                           " bytes, found " + std::to_string(text.size())};
  ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(std::string(text), where));
  std::vector<FileSetting> settings;
  if (root.kind == YamlNode::Kind::kNull) return settings;  // a file of comments
  if (root.kind != YamlNode::Kind::kMap)
    return Malformed(where, root.line, std::string("expected `name: value`, found ") + KindName(root.kind));
  for (const auto& [name, value] : root.map) {
    ASSIGN_OR_RETURN(FileSetting setting, SettingOf(name, value, where));
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace samebit::cli
