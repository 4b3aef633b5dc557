#include "cli/chat.h"

#include <cstdio>

#include "cli/answer.h"
#include "cli/interrupt.h"
#include "cli/prompt.h"
#include "world/log.h"

namespace samebit::cli {
namespace {

class Conversation {
 public:
  Conversation(const LoadedModel& loaded, const ChatSettings& settings) : loaded_(loaded), settings_(settings) {
    Reset();
  }

  void Reset() {
    messages_.clear();
    if (!settings_.system.empty()) messages_.push_back({"system", settings_.system});
    ids_.clear();
    rendered_.clear();
  }

  // The ids of everything up to the assistant's next turn. The turn counts only once Commit is called.
  Result<std::vector<TokenId>> Next(const std::string& line) {
    std::vector<text::ChatMessage> messages = messages_;
    messages.push_back({"user", line});
    ASSIGN_OR_RETURN(next_rendered_, RenderChat(loaded_, messages, settings_.now_unix_seconds));
    next_messages_ = std::move(messages);
    // What the template adds behind the last answer is read as text; the answer itself stays the ids it was.
    if (!ids_.empty() && next_rendered_.starts_with(rendered_)) {
      ASSIGN_OR_RETURN(
          std::vector<TokenId> added,
          loaded_.tokenizer->Encode(std::string_view(next_rendered_).substr(rendered_.size()), text::Specials::kParse));
      // The answer's own end-of-turn token is also the first thing that the template writes behind it.
      const bool twice = !added.empty() && added.front() == ids_.back() && loaded_.tokenizer->IsControl(ids_.back());
      std::vector<TokenId> ids = ids_;
      ids.insert(ids.end(), added.begin() + (twice ? 1 : 0), added.end());
      return ids;
    }
    return PromptIds(loaded_, next_rendered_);
  }

  void Commit(std::vector<TokenId> prompt, const engine::Choice& answer) {
    messages_ = std::move(next_messages_);
    messages_.push_back({"assistant", answer.text});
    rendered_ = std::move(next_rendered_) + answer.text;
    ids_ = std::move(prompt);
    for (const engine::TokenRecord& token : answer.tokens) ids_.push_back(token.id);
  }

 private:
  const LoadedModel& loaded_;
  const ChatSettings& settings_;
  std::vector<text::ChatMessage> messages_, next_messages_;
  std::vector<TokenId> ids_;              // read and written so far
  std::string rendered_, next_rendered_;  // the same as text, up to the last answer's last character
};

void Warn(const std::string& message) { world::StderrLog().Write(world::LogLevel::kWarning, message); }

// One turn. False: the chat cannot begin (first turn) or this turn was refused.
Status Turn(const Outside& outside, engine::Engine& engine, const EffectiveSampling& sampling,
            Conversation& conversation, const std::string& line) {
  ASSIGN_OR_RETURN(std::vector<TokenId> prompt, conversation.Next(line));
  if (prompt.size() >= engine.context_max()) {
    return Error{ErrorCode::kContextOverflow, "the conversation has " + std::to_string(prompt.size()) +
                                                  " tokens and the context holds " +
                                                  std::to_string(engine.context_max()) + "; forget it with /reset"};
  }
  EffectiveSampling fitted = sampling;
  fitted.FitTokensMax(engine.context_max() - static_cast<uint32_t>(prompt.size()));
  engine::Request request = fitted.request;
  request.prompt = prompt;
  request.samples = 1;
  request.logits_digests = false;
  ASSIGN_OR_RETURN(const engine::Completion completion,
                   Answer(engine, std::move(request),
                          [](uint32_t, const engine::TokenRecord&, std::string_view text) { WriteOut(text); }));
  const engine::Choice& answer = completion.choices.front();
  if (sampling.request.beam_width > 0) WriteOut(answer.text);
  WriteOut("\n");
  if (answer.finish_reason == engine::FinishReason::kCancelled && outside.terminal.errors_are_terminal) {
    Warn("stopped; Ctrl-C again ends the chat");
  }
  conversation.Commit(std::move(prompt), answer);
  return {};
}

}  // namespace

Result<ExitCode> Chat(const Outside& outside, const LoadedModel& loaded, engine::Engine& engine,
                      const EffectiveSampling& sampling, const ChatSettings& settings) {
  Conversation conversation(loaded, settings);
  // Refuse a model without a template before anything is typed.
  RETURN_IF_ERROR([&]() -> Status {
    ASSIGN_OR_RETURN([[maybe_unused]] const auto ids, conversation.Next("hello"));
    return {};
  }());
  std::fputs("A chat. Ctrl-C stops an answer; /reset forgets; /exit ends.\n", stderr);
  std::string line;
  while (true) {
    ForgetInterrupt();
    std::fputs("> ", stderr);
    if (ReadLine(line) != LineEvent::kLine || line == "/exit") break;
    if (line.empty()) continue;
    if (line == "/reset") {
      conversation.Reset();
      continue;
    }
    const Status status = Turn(outside, engine, sampling, conversation, line);
    if (!status.ok()) Warn(status.error().message);
  }
  std::fputs("\n", stderr);
  return ExitCode::kHolds;
}

}  // namespace samebit::cli
