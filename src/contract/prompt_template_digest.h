// The name of a prompt template in a fingerprint: SHA-256 over the canonical JSON of everything that its file says.
// Comments and layout of the file do not count; every value does, a description too.
#pragma once

#include <string>

#include "base/prompt_template.h"

namespace samebit::contract {

// samebit.prompt/1. Floats are decimal strings and 64-bit integers are strings, as in the fingerprint document.
std::string PromptTemplateJson(const PromptTemplate& prompt);
std::string PromptTemplateSha256(const PromptTemplate& prompt);  // hex

// "string", "integer", "number", "boolean", "enum".
const char* PromptVariableTypeName(PromptVariableType type);
// "text", "json", "choice", "integer", "number", "line".
const char* PromptFormatName(PromptFormat format);

}  // namespace samebit::contract
