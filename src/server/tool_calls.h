// Tools on the way through the server: what of a request the model and its template can do, the grammar where a call is
// asked for, and an answer's text taken apart into content and calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openai/answer.h"
#include "openai/chat_request.h"
#include "server/answer_form.h"
#include "server/served_model.h"
#include "text/tools/tool_syntax.h"

namespace samebit::server {

struct ToolPlan {
  const text::ToolSyntax* syntax = nullptr;  // null: an answer's text stays text
  // Call ids are made of it: equal requests give equal ids, turns of one conversation different ones.
  std::string id_seed;
};

// Refuses calls and results in messages that the template would drop.
std::optional<openai::ApiError> CheckToolMessages(const std::vector<openai::ChatMessage>& messages,
                                                  const ServedModel& model);
// Refuses tools that the template would drop. Fills the syntax, and the form where the request asks for a call or a tool is strict.
std::optional<openai::ApiError> PlanTools(const openai::ToolRequest& request, const ServedModel& model, ToolPlan& plan,
                                          AnswerForm& form);

// The seed of call ids: SHA-256 over the fingerprint's semantic part, as hex, and the prompt's ids (little-endian u32).
std::string CallIdSeed(const std::string& semantic_sha256, const std::vector<TokenId>& prompt);

// One choice's text as it grows. Borrows nothing.
class AnswerReader {
 public:
  AnswerReader(const ToolPlan& plan, uint32_t choice);

  struct Piece {
    std::string content;
    std::vector<openai::ToolCallDelta> calls;
  };
  Piece Push(std::string_view text);
  Piece Finish();
  bool called() const { return calls_ > 0; }

 private:
  Piece Take(const std::vector<text::ToolEvent>& events);

  std::unique_ptr<text::ToolCallParser> parser_;  // null: all is content
  const std::string id_seed_;
  const uint32_t choice_;
  uint32_t calls_ = 0;
};

}  // namespace samebit::server
