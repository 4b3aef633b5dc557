// Reads the fields of a prompt template's file one by one; what is wrong is noted with its line, and reading goes on.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/prompt_file.h"
#include "text/prompt_template.h"

namespace samebit::cli {

class PromptFields {
 public:
  enum Need { kOptional, kRequired };

  // map, problems: outlive the object.
  PromptFields(const YamlNode& map, std::string file, std::vector<PromptFinding>& problems)
      : map_(map), file_(std::move(file)), problems_(problems) {}

  uint32_t line() const { return map_.line; }
  bool Has(const std::string& key) const { return map_.Find(key) != nullptr; }
  // The text without one line end at its end, so that YAML's `|` needs no care. "" where there is none.
  std::string Text(const std::string& key, Need need = kOptional);
  std::vector<std::string> Texts(const std::string& key, uint32_t count_max);
  std::optional<PromptFields> Map(const std::string& key);
  std::vector<PromptFields> Maps(const std::string& key, uint32_t count_max);
  // The members of a map, each with its key.
  std::vector<std::pair<std::string, PromptFields>> NamedMaps(const std::string& key, uint32_t count_max);
  // Fields that nobody asked for are mistakes of writing.
  void RefuseOthers();

  // key "": about the map itself.
  void Problem(const std::string& key, const std::string& rule, const std::string& why, const std::string& fix);
  void ProblemAt(uint32_t line, const std::string& rule, const std::string& why, const std::string& fix);

 private:
  const YamlNode* Take(const std::string& key);
  void Expected(const YamlNode& node, const std::string& what);

  const YamlNode& map_;
  std::string file_;
  std::vector<PromptFinding>& problems_;
  std::set<std::string> taken_;
};

// `variables:`, sorted by name.
std::vector<PromptVariable> ReadPromptVariables(PromptFields& fields);

// Under which rule a name falls that a text asks for and does not have: those that read a clock or draw lots are worse
// than others.
std::string UndefinedRule(const std::string& name);

}  // namespace samebit::cli
