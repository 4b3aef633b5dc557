// A request whose answer is streamed: the engine thread drops tokens into the mailbox, the HTTP thread takes them out
// after each step and writes server-sent events.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/answer_port.h"
#include "server/engine_thread.h"
#include "server/prepare.h"

namespace samebit::server {

class StreamedAnswer final : public Session {
 public:
  StreamedAnswer(Prepared prepared, std::shared_ptr<AnswerPort> port, const text::Tokenizer& tokenizer);

  // Engine thread.
  void OnAccepted() override;
  void OnToken(uint32_t prompt_index, uint32_t sample_index, const engine::TokenRecord& token,
               std::string_view text) override;
  void OnEnd(uint32_t prompt_index, Result<engine::Completion> completion) override;
  bool wants_tokens() const override { return true; }

  // HTTP thread.
  void Wake() override;

 private:
  struct TokenEvent {
    uint32_t choice = 0;
    engine::TokenRecord record;
    std::string text;
  };
  // Ends of prompts, without the tokens that went before them.
  struct EndEvent {
    uint32_t prompt_index = 0;
    std::optional<Error> error;
    std::vector<std::pair<uint32_t, engine::FinishReason>> choices;  // sample index, reason
    openai::Usage usage;
  };
  struct Mailbox {
    bool accepted = false;
    std::vector<TokenEvent> tokens;
    std::vector<EndEvent> ends;
  };

  void Begin(std::string& out);
  void WriteToken(const TokenEvent& event, std::string& out);
  // False: the stream is over, with an error.
  bool WriteEnd(const EndEvent& event, std::string& out);
  void WriteLast(std::string& out);
  void Append(const openai::ChunkChoice* choice, openai::ChunkExtras extras, std::string& out) const;

  const Prepared prepared_;
  const std::shared_ptr<AnswerPort> port_;
  const text::Tokenizer& tokenizer_;

  std::mutex mutex_;
  Mailbox mailbox_;

  // The HTTP thread's own.
  std::vector<uint64_t> text_offsets_;  // per choice
  std::vector<AnswerReader> readers_;   // per choice
  bool begun_ = false, over_ = false;
  size_t ended_ = 0;
  openai::Usage usage_;
  std::vector<std::string> reasons_;
};

}  // namespace samebit::server
