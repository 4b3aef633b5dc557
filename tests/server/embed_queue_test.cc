// Embeddings requests beside each other on the engine's thread: turns, cancelling, stopping, a full queue.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "server/embed_queue.h"
#include "support/encoders.h"
#include "support/expected_data.h"

namespace samebit::server {
namespace {

using Vectors = std::vector<std::vector<float>>;

class Waiting final : public EmbedSession {
 public:
  void OnVectors(Result<Vectors> vectors) override {
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
      result_ = std::move(vectors);
    }
    ended_.notify_all();
  }
  Result<Vectors> Wait() {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, std::chrono::seconds(60), [this] { return result_.has_value(); }))
      return Error{ErrorCode::kIo, "nothing came"};
    return *result_;
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<Result<Vectors>> result_;
  int calls_ = 0;
};

std::vector<engine::EmbedRequest> Texts(size_t count, TokenId first) {
  std::vector<engine::EmbedRequest> requests;
  for (size_t i = 0; i < count; ++i)
    requests.push_back({{first, static_cast<TokenId>(5 + i % 80), static_cast<TokenId>(5 + i / 80)}});
  return requests;
}

std::unique_ptr<engine::Embedder> MakeEmbedder() {
  engine::EngineOptions options;
  options.isa = kernels::BestIsa();
  options.step_rows_max = 300;
  return test::ValueOrStop(engine::Embedder::Make(
      test::ValueOrStop(engine::PackWeights(*test::OpenTinyBert(), 1)), options));
}

Vectors Alone(std::vector<engine::EmbedRequest> requests) {
  const auto embedder = MakeEmbedder();
  return test::ValueOrStop(engine::Embed(*embedder, std::move(requests)));
}

struct Running {
  explicit Running(uint64_t texts_max) : queue(MakeEmbedder(), texts_max), thread(nullptr, 8, [](auto) {}, &queue) {
    queue.WakeBy([this] { thread.Nudge(); });
  }
  EmbedQueue queue;
  EngineThread thread;
};

TEST(EmbedQueue, gives_each_request_its_own_vectors_in_the_order_of_its_texts) {
  Running running(5000);
  std::vector<std::shared_ptr<Waiting>> sessions;
  for (TokenId i = 0; i < 6; ++i) {
    sessions.push_back(std::make_shared<Waiting>());
    ASSERT_TRUE(running.queue.Submit(Texts(50, 10 + i), sessions.back()).ok());
  }
  for (TokenId i = 0; i < 6; ++i) {
    const Result<Vectors> vectors = sessions[static_cast<size_t>(i)]->Wait();
    ASSERT_TRUE(vectors.ok()) << vectors.error().message;
    EXPECT_EQ(*vectors, Alone(Texts(50, 10 + i)));
    EXPECT_EQ(sessions[static_cast<size_t>(i)]->calls(), 1);
  }
  EXPECT_EQ(running.queue.texts_in_flight(), 0u);
}

// Without a thread, step by step, so that the order is the queue's own.
TEST(EmbedQueue, a_small_request_does_not_wait_for_a_large_one) {
  EmbedQueue queue(MakeEmbedder(), 5000);
  const auto large = std::make_shared<Waiting>(), small = std::make_shared<Waiting>();
  ASSERT_TRUE(queue.Submit(Texts(2000, 7), large).ok());
  queue.Step();
  ASSERT_TRUE(queue.Submit(Texts(2, 8), small).ok());
  int steps = 0;
  while (small->calls() == 0 && steps < 100) {
    queue.Step();
    ++steps;
  }
  EXPECT_LE(steps, 3);
  EXPECT_EQ(large->calls(), 0);
  EXPECT_EQ(*small->Wait(), Alone(Texts(2, 8)));
  while (queue.HasWork()) queue.Step();
  EXPECT_EQ(*large->Wait(), Alone(Texts(2000, 7)));
}

TEST(EmbedQueue, a_client_that_left_hears_nothing_and_frees_its_place) {
  EmbedQueue queue(MakeEmbedder(), 100);
  const auto gone = std::make_shared<Waiting>(), stays = std::make_shared<Waiting>();
  ASSERT_TRUE(queue.Submit(Texts(90, 7), gone).ok());
  ASSERT_TRUE(queue.Submit(Texts(10, 8), stays).ok());
  EXPECT_EQ(queue.Submit(Texts(1, 9), std::make_shared<Waiting>()).error().code, ErrorCode::kCapacity);
  queue.Step();
  queue.Cancel(gone);
  EXPECT_TRUE(queue.HasWork());
  queue.Step();
  EXPECT_LE(queue.texts_in_flight(), 10u);
  while (queue.HasWork()) queue.Step();
  EXPECT_EQ(gone->calls(), 0);
  EXPECT_EQ(*stays->Wait(), Alone(Texts(10, 8)));
}

TEST(EmbedQueue, a_stop_ends_everything_with_one_word_each) {
  EmbedQueue queue(MakeEmbedder(), 100);
  const auto session = std::make_shared<Waiting>();
  ASSERT_TRUE(queue.Submit(Texts(100, 7), session).ok());
  queue.Step();
  queue.CancelAll();
  queue.Step();
  EXPECT_EQ(session->Wait().error().code, ErrorCode::kCancelled);
  EXPECT_EQ(session->calls(), 1);
  EXPECT_EQ(queue.texts_in_flight(), 0u);
  EXPECT_EQ(queue.Submit(Texts(1, 7), session).error().code, ErrorCode::kCancelled);
}

TEST(EmbedQueue, a_request_larger_than_the_queue_is_let_in_alone) {
  EmbedQueue queue(MakeEmbedder(), 10);
  const auto session = std::make_shared<Waiting>();
  ASSERT_TRUE(queue.Submit(Texts(70, 7), session).ok());
  while (queue.HasWork()) queue.Step();
  EXPECT_EQ(*session->Wait(), Alone(Texts(70, 7)));
}

}  // namespace
}  // namespace samebit::server
