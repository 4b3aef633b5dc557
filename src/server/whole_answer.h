// A request that is answered at once, when all of it is there.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "server/answer_port.h"
#include "server/engine_thread.h"
#include "server/prepare.h"
#include "server/work_queue.h"

namespace samebit::server {

class WholeAnswer final : public Session, public std::enable_shared_from_this<WholeAnswer> {
 public:
  using Submitter = std::function<Status(std::vector<engine::Request>, std::shared_ptr<Session>)>;
  // again: hands the engine another attempt.
  WholeAnswer(Prepared prepared, std::shared_ptr<AnswerPort> port, const text::Tokenizer& tokenizer, WorkQueue& work,
              Submitter again);

  void OnAccepted() override {}
  void OnToken(uint32_t, uint32_t, const engine::TokenRecord&, std::string_view) override {}
  void OnEnd(uint32_t prompt_index, Result<engine::Completion> completion) override;
  bool wants_tokens() const override { return false; }
  void Wake() override {}

 private:
  void Answer();  // on the work thread
  // Judges the attempt that ended. True: it is the answer. False: another one is on its way, or an error was sent.
  bool Judge();
  openai::AnswerChoice ToChoice(uint32_t prompt_index, const engine::Choice& choice) const;

  Prepared prepared_;
  const std::shared_ptr<AnswerPort> port_;
  const text::Tokenizer& tokenizer_;
  WorkQueue& work_;
  // The engine thread's until Answer is posted.
  std::vector<std::optional<engine::Completion>> completions_;
  size_t ended_ = 0;
  std::optional<Error> error_;
  // The work thread's.
  const Submitter again_;
  std::vector<openai::Attempt> attempts_;
  openai::Usage earlier_;  // of the attempts before the last
};

// The headers that say the same as the `reproducibility` object.
std::vector<std::pair<std::string, std::string>> ReproducibilityHeaders(const openai::Reproducibility& from);
// Whether the engine was made to stop: then there is no answer to give.
bool WasCancelled(const engine::Completion& completion);
openai::ApiError ServerStopping();

}  // namespace samebit::server
