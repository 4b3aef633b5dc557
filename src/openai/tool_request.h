// tools, tool_choice and parallel_tool_calls: what a model may call, and whether it must.
#pragma once

#include <string>
#include <vector>

#include "openai/field_reader.h"

namespace samebit::openai {

struct Tool {
  std::string name;             // letters, digits, underscores and dashes, at most 64
  std::string parameters_json;  // a JSON schema; {"type":"object"} where the client gave none
  bool strict = false;
};

struct ToolRequest {
  enum class Choice { kNone, kAuto, kRequired, kNamed };
  Choice choice = Choice::kNone;  // kNone without tools
  std::string named;              // kNamed: the tool
  bool several = true;            // parallel_tool_calls
  std::vector<Tool> tools;
  std::string tools_json;         // the array as it came, for the chat template
  std::string canonical_json;     // all three fields, for the fingerprint; "" where there are no tools
};

void ReadTools(FieldReader& fields, ToolRequest& out);

}  // namespace samebit::openai
