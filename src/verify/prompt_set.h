// The built-in prompts: chat, code, JSON extraction, maths, translation; and long prompts made to measure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "verify/prompt.h"

namespace samebit::verify {

// 40 written prompts, in a fixed order that walks through the categories, so that any first few of them are mixed.
// Changing one changes the digest of the prompt set in every report.
const std::vector<Prompt>& BuiltInPrompts();

// A long prompt of at most tokens_max tokens once rendered, as near below as whole words allow: numbered stock records,
// a few filler words, then a question about one record. The same arguments give the same text. Failure:
// kContextOverflow where not even one record fits; those of the renderer.
Result<PreparedPrompt> MakeLongPrompt(const PromptRenderer& renderer, const std::string& id, uint32_t tokens_max);

// The same kind of prompt with so many records (at least one), of about 25 tokens each.
Prompt LongPromptOf(const std::string& id, uint32_t record_count);

}  // namespace samebit::verify
