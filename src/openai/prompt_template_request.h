// The field prompt_template of a chat request: a template of the server by name and version, and values for its variables.
#pragma once

#include <optional>
#include <string>

#include "base/prompt_template.h"
#include "openai/field_reader.h"

namespace samebit::openai {

struct PromptTemplateRequest {
  std::string name;
  std::optional<std::string> version;  // absent: the newest, at tier 0 only
  PromptValues variables;
};

// nullopt: absent, or an error in `fields`. Whether the values fit is for the server: it knows the template.
std::optional<PromptTemplateRequest> ReadPromptTemplate(FieldReader& fields);

}  // namespace samebit::openai
