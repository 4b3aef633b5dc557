// From what a person wrote to the token ids that the model reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/load_model.h"
#include "text/chat_template.h"

namespace samebit::cli {

// Messages through the model's own chat template, ready for the assistant's turn.
// Failures: kInvalidArgument (the model has no template: names --raw; or the template refuses), kUnsupported (the
// template prints the date and none is given: names --now), kTooLarge, kMalformed.
Result<std::string> RenderChat(const LoadedModel& loaded, const std::vector<text::ChatMessage>& messages,
                               std::optional<int64_t> now_unix_seconds);

// Text to ids; special tokens written in the text become those tokens, and the model's bos goes in front where the
// model asks for one and the text does not begin with it. Failures: kInvalidArgument (nothing to read), kMalformed,
// kTooLarge.
Result<std::vector<TokenId>> PromptIds(const LoadedModel& loaded, std::string_view text);

// Ids as given. Failure: kInvalidArgument (an id that the vocabulary lacks).
Status CheckPromptIds(const LoadedModel& loaded, const std::vector<TokenId>& ids);

}  // namespace samebit::cli
