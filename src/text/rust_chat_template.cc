// MakeChatTemplate and rendering, by the interpreter of the Rust crate, within the bounds of base/limits.h.
#include <algorithm>
#include <array>
#include <string>

#include "base/limits.h"
#include "text/chat_template.h"
#include "text/rust_boundary.h"

namespace samebit::text {
namespace {

struct Free {
  void operator()(SamebitTemplate* chat_template) const { samebit_template_free(chat_template); }
};
using Handle = std::unique_ptr<SamebitTemplate, Free>;

constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};

Status Check(const std::vector<ChatMessage>& messages, const RenderOptions& options) {
  if (messages.size() > limits::kMessagesMax) {
    return Error{ErrorCode::kTooLarge, std::to_string(messages.size()) + " messages, at most " +
                                           std::to_string(limits::kMessagesMax) + " are taken"};
  }
  uint64_t bytes = options.extra_json.size() + options.tools_json.size();
  for (size_t i = 0; i < messages.size(); ++i) {
    if (std::find(kRoles.begin(), kRoles.end(), messages[i].role) == kRoles.end()) {
      return Error{ErrorCode::kInvalidArgument, "message " + std::to_string(i) + " has the role \"" +
                                                    messages[i].role.substr(0, 60) +
                                                    "\", expected system, user, assistant or tool"};
    }
    bytes += messages[i].content.size() + messages[i].extra_json.size();
  }
  if (bytes > limits::kPromptBytesMax) {
    return Error{ErrorCode::kTooLarge, "the messages have " + std::to_string(bytes) + " bytes, at most " +
                                           std::to_string(limits::kPromptBytesMax) + " are taken"};
  }
  return {};
}

// {"a": 1} and the tools: {"tools": [...], "a": 1}.
std::string WithTools(const RenderOptions& options) {
  if (options.tools_json.empty()) return options.extra_json;
  std::string all = "{\"tools\":" + options.tools_json;
  const size_t first = options.extra_json.find_first_not_of(" \t\r\n", options.extra_json.find('{') + 1);
  if (options.extra_json.empty() || first == std::string::npos || options.extra_json[first] == '}') return all + "}";
  return all + "," + options.extra_json.substr(first);
}

class RustChatTemplate : public ChatTemplate {
 public:
  explicit RustChatTemplate(Handle handle) : handle_(std::move(handle)) {}

  Result<std::string> Render(const std::vector<ChatMessage>& messages, const RenderOptions& options) const override {
    RETURN_IF_ERROR(Check(messages, options));
    std::vector<SamebitMessage> slices;
    const std::string extra_json = WithTools(options);
    uint64_t bytes = extra_json.size();
    for (const ChatMessage& message : messages) {
      slices.push_back({Slice(message.role), Slice(message.content), Slice(message.extra_json)});
      bytes += message.content.size() + message.extra_json.size();
    }
    const uint64_t fuel = limits::kTemplateFuel + messages.size() * limits::kTemplateFuelPerMessage +
                          bytes / limits::kTemplateBytesPerFuel;
    const SamebitRender request{
        .messages = slices.data(),
        .message_count = slices.size(),
        .add_generation_prompt = options.add_generation_prompt ? 1u : 0u,
        .bos_token = Slice(options.bos_token),
        .eos_token = Slice(options.eos_token),
        .extra_json = Slice(extra_json),
        .has_now = options.now_unix_seconds ? 1u : 0u,
        .now_unix_seconds = options.now_unix_seconds.value_or(0),
        .fuel = fuel,
        .output_bytes_max = limits::kTemplateOutputBytesMax,
        .memory_bytes_max = limits::kTemplateMemoryBytes + fuel * limits::kTemplateMemoryBytesPerFuel,
        .allocations_max = limits::kTemplateAllocations + fuel * limits::kTemplateAllocationsPerFuel,
        .seconds_max = limits::kTemplateSecondsMax,
    };
    SamebitString output{};
    SamebitString message{};
    const auto code = samebit_template_render(handle_.get(), &request, &output, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return TakeString(output);
  }

 private:
  Handle handle_;
};

}  // namespace

Result<std::unique_ptr<ChatTemplate>> MakeChatTemplate(std::string_view source) {
  if (source.size() > limits::kTemplateBytesMax) {
    return Error{ErrorCode::kTooLarge, "the chat template has " + std::to_string(source.size()) +
                                           " bytes, at most " + std::to_string(limits::kTemplateBytesMax) +
                                           " are taken"};
  }
  SamebitTemplate* made = nullptr;
  SamebitString message{};
  const auto code = samebit_template_make(Slice(source), &made, &message);
  if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
  return std::unique_ptr<ChatTemplate>(std::make_unique<RustChatTemplate>(Handle(made)));
}

}  // namespace samebit::text
