// Answers and chunks of chat completions and completions, as JSON text. One writer for both endpoints: they differ in
// the names of a few fields, not in structure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "openai/answer_parts.h"

namespace samebit::openai {

enum class Endpoint { kChat, kCompletions };

// A call of a tool, or in a stream a part of one: the first has its id and its name, all have more of the arguments.
struct ToolCallDelta {
  uint32_t index = 0;
  std::string id, name;
  std::string arguments;  // JSON as the model wrote it
};

struct AnswerChoice {
  uint32_t index = 0;
  std::vector<ToolCallDelta> calls;  // chat: whole ones; without a text beside them the content is null
  std::string text;  // completions with echo: the prompt's text before it
  std::string finish_reason;
  std::optional<std::vector<TokenEntry>> logprobs;  // with echo: the prompt's before them
  std::optional<std::vector<TokenId>> token_ids;
};

struct Answer {
  Endpoint endpoint = Endpoint::kChat;
  AnswerHead head;
  std::vector<AnswerChoice> choices;
  Usage usage;
  std::vector<std::vector<TokenId>> prompt_token_ids;          // one per prompt; empty: not asked for
  std::vector<std::vector<TokenEntry>> prompt_logprobs;        // one per prompt; empty: not asked for
  Reproducibility reproducibility;
};
std::string AnswerJson(const Answer& answer);

// What one chunk says about one choice.
struct ChunkChoice {
  uint32_t index = 0;
  bool gives_role = false;  // chat: the first chunk of a choice
  std::string text;
  std::vector<ToolCallDelta> calls;
  std::string finish_reason;  // empty: null, the choice goes on
  std::optional<std::vector<TokenEntry>> logprobs;
  uint64_t* text_offset = nullptr;  // completions with logprobs: of this choice, moved on
  std::optional<std::vector<TokenId>> token_ids;
};

struct ChunkExtras {
  bool usage_is_null = false;  // stream_options.include_usage: every chunk but the last says "usage": null
  const std::vector<TokenId>* prompt_token_ids = nullptr;
  const Usage* usage = nullptr;
  const Reproducibility* reproducibility = nullptr;  // the last chunk
};

// choice: nullptr for the usage chunk ("choices": []).
std::string ChunkJson(Endpoint endpoint, const AnswerHead& head, const ChunkChoice* choice, const ChunkExtras& extras);

// One server-sent event: "data: <json>\n\n". JSON text has no line ends, so one line always does.
std::string SseEvent(std::string_view json);
inline constexpr std::string_view kSseDone = "data: [DONE]\n\n";

}  // namespace samebit::openai
