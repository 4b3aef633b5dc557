// A NaN in the weights fails the request that meets it, and nobody else.
#include <gtest/gtest.h>

#include <limits>

#include "support/edited_model.h"
#include "support/engine_runs.h"

namespace samebit::test {
namespace {

constexpr TokenId kPoisoned = 200;

// Only the embedding row of one token holds the value; the output matrix is another one.
SharedWeights Poisoned(float value) {
  EditedModel edited(OpenTiny({"llama-untied", false}));
  edited.EditTensor(model::Role::kEmbedding, 0)[size_t{kPoisoned} * edited.config().width + 3] = value;
  return Pack(edited);
}

std::vector<TokenId> CleanPrompt(uint32_t length, uint64_t seed) { return RandomPrompt(length, seed, 199); }

TEST(FailureBits, a_nan_fails_its_request_and_leaves_the_neighbours_bits) {
  for (float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f}) {
    const SharedWeights poisoned = Poisoned(value), clean = PackTiny({"llama-untied", false});
    for (uint32_t chunk : {1u, 5u, 64u}) {
      EngineOptions options = TogetherOptions();
      options.prefill_chunk = chunk;
      const auto engine = MakeEngine(poisoned, options);
      // Answers of neighbours may not contain the token either.
      std::vector<Request> requests;
      for (uint64_t i = 0; i < 4; ++i) {
        requests.push_back(GreedyRequest(CleanPrompt(30, i), 20));
        requests.back().sampling.logit_bias = {{kPoisoned, -100.0f}};
      }
      requests[2].prompt[20] = kPoisoned;
      for (int round = 0; round < 2; ++round) {  // the second time over the pages that held NaNs
        std::vector<RequestId> ids;
        for (const Request& request : requests) ids.push_back(SubmitOrStop(*engine, request));
        while (engine->Step()) {
        }
        const auto failed = engine->Take(ids[2]);
        ASSERT_TRUE(failed.has_value());
        ASSERT_FALSE(failed->ok());
        EXPECT_EQ(failed->error().code, ErrorCode::kNumeric);
        EXPECT_NE(failed->error().message.find("position 20"), std::string::npos) << failed->error().message;
        for (size_t i : {0, 1, 3})
          EXPECT_EQ(AnswerBytes(TakeOrStop(*engine, ids[i])),
                    AnswerBytes(RunAlone(clean, requests[i], Reduction::kLaw)));
      }
    }
  }
}

TEST(FailureBits, a_prompt_with_the_first_tokens_of_a_failed_one_is_answered) {
  const auto engine = MakeEngine(Poisoned(std::numeric_limits<float>::quiet_NaN()), TogetherOptions());
  Request bad = GreedyRequest(CleanPrompt(60, 1), 5), good = bad;
  bad.prompt[50] = kPoisoned;
  good.sampling.logit_bias = {{kPoisoned, -100.0f}};
  EXPECT_FALSE(engine::Run(*engine, bad).ok());
  const auto answer = engine::Run(*engine, good);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(AnswerBytes(*answer),
            AnswerBytes(RunAlone(PackTiny({"llama-untied", false}), good, Reduction::kLaw)));
}

TEST(FailureBits, one_sample_that_meets_it_fails_the_request) {
  const auto engine = MakeEngine(Poisoned(std::numeric_limits<float>::quiet_NaN()), TogetherOptions());
  Request request = GreedyRequest(CleanPrompt(10, 2), 5);
  request.sampling.logit_bias = {{kPoisoned, 100.0f}};
  const auto answer = engine::Run(*engine, request);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kNumeric);
}

}  // namespace
}  // namespace samebit::test
