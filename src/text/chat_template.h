// Chat template: messages -> prompt text, by the model's own Jinja template, in a bounded interpreter.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tokenizer_spec.h"

namespace samebit::text {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  // More members of the message as one JSON object text, "" for none: tool_calls, tool_call_id, name. They win over the
  // two above ("content": null).
  std::string extra_json = {};
};

struct RenderOptions {
  bool add_generation_prompt = true;
  // The text of the bos / eos tokens as templates may print them.
  std::string bos_token, eos_token;
  // The date that strftime_now() prints, as unix seconds; absent: a template that asks for the time is refused
  // (kUnsupported), because an answer must not depend on a clock that nobody recorded.
  std::optional<int64_t> now_unix_seconds;
  // Extra variables as one JSON object text ("" for none), for example {"tools": [...]}.
  std::string extra_json;
  // The tools that the model may call: a JSON array text, "" for none. Not together with "tools" above.
  std::string tools_json;
};

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;
  // Failures: kInvalidArgument (raise_exception in the template, unknown role), kTooLarge (fuel or output bound),
  // kUnsupported (needs a clock), kMalformed (template error).
  virtual Result<std::string> Render(const std::vector<ChatMessage>& messages, const RenderOptions& options) const = 0;
};

// Failure: kMalformed (does not parse), kTooLarge.
Result<std::unique_ptr<ChatTemplate>> MakeChatTemplate(std::string_view source);

}  // namespace samebit::text
