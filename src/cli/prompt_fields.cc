#include "cli/prompt_fields.h"

namespace samebit::cli {
namespace {

const char* KindName(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kText: return "a text";
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: break;
  }
  return "a map";
}

}  // namespace

void PromptFields::ProblemAt(uint32_t line, const std::string& rule, const std::string& why, const std::string& fix) {
  problems_.push_back({file_, line, rule, why, fix});
}

void PromptFields::Problem(const std::string& key, const std::string& rule, const std::string& why,
                           const std::string& fix) {
  const YamlNode* node = key.empty() ? nullptr : map_.Find(key);
  ProblemAt(node != nullptr ? node->line : map_.line, rule, why, fix);
}

const YamlNode* PromptFields::Take(const std::string& key) {
  taken_.insert(key);
  return map_.Find(key);
}

void PromptFields::Expected(const YamlNode& node, const std::string& what) {
  ProblemAt(node.line, "schema", "expected " + what + ", found " + KindName(node.kind),
            node.kind == YamlNode::Kind::kNull ? "write it, or put quotes around an empty text or the word null"
                                               : "write it as " + what);
}

std::string PromptFields::Text(const std::string& key, Need need) {
  const YamlNode* node = Take(key);
  if (node == nullptr) {
    if (need == kRequired) ProblemAt(map_.line, "schema", "`" + key + "` is missing", "add it");
    return "";
  }
  if (node->kind != YamlNode::Kind::kText) {
    Expected(*node, "a text for `" + key + "`");
    return "";
  }
  std::string text = node->text;
  if (text.ends_with('\n')) text.pop_back();
  if (text.empty() && need == kRequired) ProblemAt(node->line, "schema", "`" + key + "` is empty", "write it");
  return text;
}

std::vector<std::string> PromptFields::Texts(const std::string& key, uint32_t count_max) {
  std::vector<std::string> texts;
  const YamlNode* node = Take(key);
  if (node == nullptr) return texts;
  if (node->kind != YamlNode::Kind::kList || node->list.size() > count_max) {
    Expected(*node, "a list of at most " + std::to_string(count_max) + " texts for `" + key + "`");
    return texts;
  }
  std::set<std::string> seen;
  for (const YamlNode& one : node->list) {
    if (one.kind != YamlNode::Kind::kText)
      Expected(one, "a text");
    else if (!seen.insert(one.text).second)
      ProblemAt(one.line, "schema", "'" + one.text.substr(0, 64) + "' stands twice", "take one out");
    else
      texts.push_back(one.text);
  }
  return texts;
}

std::optional<PromptFields> PromptFields::Map(const std::string& key) {
  const YamlNode* node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == YamlNode::Kind::kMap) return PromptFields(*node, file_, problems_);
  Expected(*node, "a map for `" + key + "`");
  return std::nullopt;
}

std::vector<PromptFields> PromptFields::Maps(const std::string& key, uint32_t count_max) {
  std::vector<PromptFields> maps;
  const YamlNode* node = Take(key);
  if (node == nullptr) return maps;
  if (node->kind != YamlNode::Kind::kList || node->list.size() > count_max) {
    Expected(*node, "a list of at most " + std::to_string(count_max) + " maps for `" + key + "`");
    return maps;
  }
  for (const YamlNode& one : node->list) {
    if (one.kind == YamlNode::Kind::kMap)
      maps.push_back(PromptFields(one, file_, problems_));
    else
      Expected(one, "a map");
  }
  return maps;
}

std::vector<std::pair<std::string, PromptFields>> PromptFields::NamedMaps(const std::string& key, uint32_t count_max) {
  std::vector<std::pair<std::string, PromptFields>> maps;
  const YamlNode* node = Take(key);
  if (node == nullptr) return maps;
  if (node->kind != YamlNode::Kind::kMap || node->map.size() > count_max) {
    Expected(*node, "a map of at most " + std::to_string(count_max) + " maps for `" + key + "`");
    return maps;
  }
  for (const auto& [name, one] : node->map) {
    if (one.kind == YamlNode::Kind::kMap)
      maps.emplace_back(name, PromptFields(one, file_, problems_));
    else
      Expected(one, "a map for '" + name.substr(0, 64) + "'");
  }
  return maps;
}

void PromptFields::RefuseOthers() {
  for (const auto& [key, node] : map_.map) {
    if (!taken_.contains(key))
      ProblemAt(node.line, "schema", "there is no field `" + key.substr(0, 64) + "` here", "correct its name or take it out");
  }
}

}  // namespace samebit::cli
