// A prompt set from a JSONL file: one object a line,
//   {"id": "a", "prompt": "text"}  or  {"id": "a", "messages": [{"role": "user", "content": "text"}]},
// and, if wanted, "category": "name" and "max_tokens": 64.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "verify/prompt.h"

namespace samebit::verify {

// `name` stands in messages. Empty lines are passed over. Failures: kMalformed (not JSON, a key twice, an unknown or a
// missing key, a wrong type), kInvalidArgument (an id twice, a value out of range), kTooLarge; each names the line.
Result<std::vector<Prompt>> ParsePromptFile(std::string_view text, const std::string& name);

// Reads the file first. Failures: also kNotFound, kIo.
Result<std::vector<Prompt>> LoadPromptFile(const std::string& path);

}  // namespace samebit::verify
