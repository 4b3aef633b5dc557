// A prompt template's file: YAML to a PromptTemplate, with everything that is wrong with it and where.
// docs/howto/prompt-templates.md has the form.
#pragma once

#include <string>
#include <vector>

#include "base/prompt_template.h"
#include "base/result.h"
#include "cli/yaml_tree.h"

namespace samebit::cli {

struct PromptFinding {
  std::string file;
  uint32_t line = 1;
  std::string rule;  // "schema", "clock", …
  std::string why;
  std::string fix;
};

struct PromptFile {
  std::string path;
  std::string source;
  YamlNode tree;
  PromptTemplate prompt;                // as far as it could be read
  std::vector<PromptFinding> problems;  // any: it cannot be used

  // The line of the file where `text` stands at or behind the node; the node's own where it is not found (folded texts).
  uint32_t LineOf(const YamlNode& node, const std::string& text) const;
};

// Failures: kNotFound, kIo; kMalformed, kTooLarge (no YAML, not a map, over the limits).
Result<PromptFile> ReadPromptFile(const std::string& path);

// The same for whoever wants to use it: the first problem is the failure (kMalformed).
Result<PromptTemplate> LoadPromptTemplate(const std::string& path);

// The files of a folder that end in .yaml or .yml, sorted, or the file itself.
// Failures: kNotFound, kIo; kInvalidArgument (there are none), kTooLarge (too many).
Result<std::vector<std::string>> PromptFilesAt(const std::string& path);

}  // namespace samebit::cli
