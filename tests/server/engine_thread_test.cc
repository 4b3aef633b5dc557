// The thread that drives the engine, with a tiny real model: order of events, all or nothing, the queue's end, leaving.
#include "server/engine_thread.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "support/engine_runs.h"

namespace samebit::server {
namespace {

using test::GreedyRequest;
using test::RandomPrompt;

// Writes down what it is told.
class Recorder final : public Session {
 public:
  explicit Recorder(uint32_t prompts, bool wants_tokens = true) : prompts_(prompts), wants_tokens_(wants_tokens) {}

  void OnAccepted() override { Add("accepted"); }
  void OnToken(uint32_t prompt, uint32_t, const engine::TokenRecord& token, std::string_view) override {
    const std::lock_guard lock(mutex_);
    tokens_.resize(prompts_);
    tokens_[prompt].push_back(token.id);
    changed_.notify_all();
  }
  void OnEnd(uint32_t prompt, Result<engine::Completion> completion) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(!completion.ok() ? "error"
                      : completion->choices[0].finish_reason == engine::FinishReason::kCancelled ? "cancelled"
                                                                                                 : "end");
    if (completion.ok()) {
      completions_.resize(prompts_);
      completions_[prompt] = *completion;
    }
    changed_.notify_all();
  }
  bool wants_tokens() const override { return wants_tokens_; }
  void Wake() override { Add("wake"); }

  bool WaitFor(const std::function<bool(Recorder&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return condition(*this); });
  }
  // Within WaitFor, or when nothing runs any more.
  size_t Count(const std::string& event) const { return std::count(events_.begin(), events_.end(), event); }
  size_t TokenCount() const {
    size_t count = 0;
    for (const auto& one : tokens_) count += one.size();
    return count;
  }

  std::vector<std::string> events_;
  std::vector<std::vector<TokenId>> tokens_;
  std::vector<std::optional<engine::Completion>> completions_;

 private:
  void Add(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }

  const uint32_t prompts_;
  const bool wants_tokens_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

class EngineThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    engine::EngineOptions options = test::TogetherOptions();
    options.sequences_max = 2;
    weights_ = test::PackTiny({"llama-q4_1"});
    thread_ = std::make_unique<EngineThread>(test::MakeEngine(weights_, options), 2,
                                             [](std::vector<std::shared_ptr<Session>> sessions) {
                                               for (const auto& session : sessions) session->Wake();
                                             });
  }
  // Longer than any test waits.
  engine::Request Endless() const { return GreedyRequest(RandomPrompt(4, 1), thread_->context_max() - 10); }

  test::SharedWeights weights_;
  std::unique_ptr<EngineThread> thread_;
};

TEST_F(EngineThreadTest, accepts_then_gives_tokens_then_ends_each_prompt_with_the_bits_of_one_alone) {
  std::vector<engine::Request> requests = {GreedyRequest(RandomPrompt(5, 1), 6), GreedyRequest(RandomPrompt(9, 2), 9)};
  const auto session = std::make_shared<Recorder>(2);
  ASSERT_TRUE(thread_->Submit(requests, session).ok());
  ASSERT_TRUE(session->WaitFor([](Recorder& r) { return r.Count("end") == 2; }));
  thread_.reset();
  EXPECT_EQ(session->events_.front(), "accepted");
  EXPECT_EQ(session->Count("accepted"), 1u);
  for (size_t i = 0; i < requests.size(); ++i) {
    const engine::Completion alone = test::RunAlone(weights_, requests[i], engine::Reduction::kLaw);
    EXPECT_EQ(test::AnswerBytes(*session->completions_[i]), test::AnswerBytes(alone));
    std::vector<TokenId> ids;
    for (const engine::TokenRecord& token : alone.choices[0].tokens) ids.push_back(token.id);
    EXPECT_EQ(session->tokens_[i], ids);
  }
}

TEST_F(EngineThreadTest, a_session_that_wants_no_tokens_gets_its_ends_only) {
  const auto session = std::make_shared<Recorder>(1, false);
  ASSERT_TRUE(thread_->Submit({GreedyRequest(RandomPrompt(5, 1), 6)}, session).ok());
  ASSERT_TRUE(session->WaitFor([](Recorder& r) { return r.Count("end") == 1; }));
  thread_.reset();
  EXPECT_EQ(session->TokenCount(), 0u);
}

TEST_F(EngineThreadTest, a_list_with_one_bad_request_is_refused_as_a_whole) {
  const auto session = std::make_shared<Recorder>(2);
  ASSERT_TRUE(thread_->Submit({GreedyRequest(RandomPrompt(5, 1), 6), GreedyRequest({}, 6)}, session).ok());
  ASSERT_TRUE(session->WaitFor([](Recorder& r) { return r.Count("error") == 1; }));
  const auto after = std::make_shared<Recorder>(1);
  ASSERT_TRUE(thread_->Submit({GreedyRequest(RandomPrompt(5, 1), 6)}, after).ok());
  ASSERT_TRUE(after->WaitFor([](Recorder& r) { return r.Count("end") == 1; }));
  EXPECT_EQ(thread_->load().samples_in_flight, 0u);
  thread_.reset();
  EXPECT_EQ(session->Count("accepted") + session->Count("end") + session->TokenCount(), 0u);
}

TEST_F(EngineThreadTest, a_full_queue_refuses_and_takes_again_what_was_left) {
  std::vector<std::shared_ptr<Recorder>> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(std::make_shared<Recorder>(1));
    ASSERT_TRUE(thread_->Submit({Endless()}, sessions.back()).ok());
  }
  const Status refused = thread_->Submit({GreedyRequest(RandomPrompt(5, 1), 6)}, std::make_shared<Recorder>(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCapacity);
  thread_->Cancel(sessions[0]);
  ASSERT_TRUE(sessions[0]->WaitFor([](Recorder& r) { return r.Count("cancelled") == 1; }));
  for (int i = 0; i < 3000 && thread_->load().samples_in_flight == 4; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(thread_->Submit({GreedyRequest(RandomPrompt(5, 1), 6)}, std::make_shared<Recorder>(1)).ok());
}

TEST_F(EngineThreadTest, who_leaves_gets_no_token_after_the_next_step) {
  const auto session = std::make_shared<Recorder>(1), neighbour = std::make_shared<Recorder>(1);
  const uint32_t length = Endless().tokens_max;
  ASSERT_TRUE(thread_->Submit({Endless()}, session).ok());
  const engine::Request short_one = GreedyRequest(RandomPrompt(7, 3), 20);
  ASSERT_TRUE(thread_->Submit({short_one}, neighbour).ok());
  ASSERT_TRUE(session->WaitFor([](Recorder& r) { return r.TokenCount() >= 2; }));
  thread_->Cancel(session);
  ASSERT_TRUE(session->WaitFor([](Recorder& r) { return r.Count("cancelled") == 1; }));
  ASSERT_TRUE(neighbour->WaitFor([](Recorder& r) { return r.Count("end") == 1; }));
  thread_.reset();
  EXPECT_LT(session->TokenCount(), length);
  EXPECT_EQ(test::AnswerBytes(*neighbour->completions_[0]),
            test::AnswerBytes(test::RunAlone(weights_, short_one, engine::Reduction::kLaw)));
}

TEST_F(EngineThreadTest, cancelling_all_ends_what_runs_and_refuses_what_comes) {
  std::vector<std::shared_ptr<Recorder>> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(std::make_shared<Recorder>(1));
    ASSERT_TRUE(thread_->Submit({Endless()}, sessions.back()).ok());
  }
  thread_->CancelAll();
  for (const auto& session : sessions)
    EXPECT_TRUE(session->WaitFor([](Recorder& r) { return r.Count("cancelled") == 1; }));
  EXPECT_EQ(thread_->Submit({Endless()}, std::make_shared<Recorder>(1)).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace samebit::server
