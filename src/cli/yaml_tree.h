// YAML from a person's file as a small tree that knows its lines: scalars are text, whatever they look like, so that
// `no` is "no" and `1.10` is "1.10"; who reads a field says what it must be.
//
// Refused: aliases and anchors (a few lines of them grow without bound), tags, names that are no text or stand twice,
// more than one document, and what is over the limits. Not for: writing YAML.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace samebit::cli {

struct YamlNode {
  enum class Kind { kNull, kText, kList, kMap };
  Kind kind = Kind::kNull;
  uint32_t line = 1;      // in the file, from 1
  uint32_t key_line = 1;  // of its name, where it stands in a map
  std::string text;
  std::vector<YamlNode> list;
  std::vector<std::pair<std::string, YamlNode>> map;  // in the order of the file

  // nullptr: there is none, or this is no map.
  const YamlNode* Find(const std::string& key) const;
};

// Nothing but comments: kNull. where: the file, for messages (AtLine). Failures: kMalformed, kUnsupported (anchors,
// aliases, tags), kTooLarge.
Result<YamlNode> ReadYaml(const std::string& text, const std::string& where);

// "where:line: sentence", as of every message about a file.
Error AtLine(const std::string& where, uint32_t line, ErrorCode code, const std::string& sentence);

}  // namespace samebit::cli
