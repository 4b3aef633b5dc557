// The configuration file: a flat YAML map, `name: value`, with the flags' names.
//
// Every value is taken as the text that stands there, so that none of YAML's guesses (no is false, 1e3, 0o17) changes it;
// what the text means is the flag's business.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::cli {

struct FileSetting {
  std::string name = {};
  std::vector<std::string> values = {};  // one, or those of a list
  bool is_list = false;
  size_t line = 0;  // of the name, from 1
};

// In the file's order. Failures, all with file and line: kTooLarge (limits::kConfigFileBytesMax); kMalformed (not UTF-8,
// not YAML, more than one document, not a map of names to values and lists of values, a name twice, an empty value);
// kUnsupported (anchors, aliases and tags: a file that can repeat itself can grow without bound).
Result<std::vector<FileSetting>> ParseConfigFile(std::string_view text, const std::string& where);

}  // namespace samebit::cli
