#include "verify/child.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "verify/compare.h"
#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

ChildJob MadeUpJob() {
  ChildJob job;
  job.model_path = "dir/model \"x\".gguf";
  job.concurrency = 8;
  job.options.threads = 3;
  job.options.isa = kernels::Isa::kAvx2;
  job.options.cache_type = kernels::CacheType::kF32;
  job.options.page_tokens = 32;
  job.options.cache_bytes = 1ull << 40;
  job.options.prefill_chunk = 48;
  job.options.prefix_cache = false;
  job.options.reduction = engine::Reduction::kControl;
  engine::Request request;
  request.prompt = {1, 2, 49151};
  request.sampling.temperature = 0.8f;
  request.sampling.top_p = 0.95f;
  request.sampling.seed = UINT64_MAX;
  request.samples = 8;
  request.tokens_max = 128;
  request.top_logprobs = 5;
  request.logits_digests = true;
  job.requests = {request, request};
  return job;
}

TEST(Child, a_job_is_read_back) {
  const ChildJob job = MadeUpJob();
  const auto read = ParseChildJob(ChildJobJson(job));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(ChildJobJson(*read), ChildJobJson(job));
  EXPECT_EQ(read->requests[1].sampling.seed, UINT64_MAX);
  EXPECT_EQ(read->options.cache_bytes, 1ull << 40);
  EXPECT_EQ(read->options.reduction, engine::Reduction::kControl);
  EXPECT_EQ(read->options.isa, kernels::Isa::kAvx2);
}

TEST(Child, an_answer_is_read_back_bit_for_bit) {
  ChildAnswer answer;
  answer.process_id = 4242;
  answer.model_sha256 = "ab";
  answer.completions = {MadeUpCompletion(40, 8, 3)};
  engine::Choice& choice = answer.completions[0].choices[1];
  choice.tokens[0].logprob = -INFINITY;
  choice.tokens[1].logprob = -0.0f;
  choice.tokens[2].margin = std::bit_cast<float>(0x7fc00001u);
  choice.finish_reason = engine::FinishReason::kStop;
  const auto read = ParseChildAnswer(ChildAnswerJson(answer));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->process_id, 4242u);
  ASSERT_EQ(read->completions.size(), 1u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(CompareWithBase(answer.completions[0].choices[i], 8, &read->completions[0].choices[i]).exact());
  EXPECT_EQ(read->completions[0].trace.sequences_in_step_max, 1u);
  EXPECT_EQ(read->completions[0].prompt_tokens, 40u);
}

TEST(Child, texts_cut_anywhere_are_refused) {
  const std::string job = ChildJobJson(MadeUpJob());
  for (size_t bytes = 0; bytes < job.size(); ++bytes) EXPECT_FALSE(ParseChildJob(job.substr(0, bytes)).ok()) << bytes;
  ChildAnswer answer;
  answer.completions = {MadeUpCompletion(4, 2)};
  std::string text = ChildAnswerJson(answer);
  text.pop_back();  // the line's end
  for (size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(ParseChildAnswer(text.substr(0, bytes)).ok()) << bytes;
}

TEST(Child, refuses_what_it_does_not_know) {
  std::string job = ChildJobJson(MadeUpJob());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = job;
    text.replace(text.find(from), from.size(), to);
    return ParseChildJob(text);
  };
  EXPECT_FALSE(with("replay-job/2", "replay-job/1").ok());
  EXPECT_FALSE(with("\"avx2\"", "\"sse9\"").ok());
  EXPECT_FALSE(with("\"threads\":3", "\"threads\":0").ok());
  EXPECT_FALSE(with("\"threads\":3", "\"threads\":1000000000").ok());
  EXPECT_FALSE(with("\"concurrency\":8", "\"concurrency\":0").ok());
  EXPECT_FALSE(with("49151", "-1").ok());
  EXPECT_FALSE(with("\"seed\":\"18446744073709551615\"", "\"seed\":\"18446744073709551616\"").ok());
  EXPECT_FALSE(ParseChildAnswer(job).ok());
}

TEST(Child, a_job_for_a_missing_model_is_an_error) {
  ChildJob job = MadeUpJob();
  job.model_path = "does-not-exist.gguf";
  EXPECT_FALSE(ServeChildJob(ChildJobJson(job), 1, PackAlways).ok());
  EXPECT_EQ(ServeChildJob("nonsense", 1, PackAlways).error().code, ErrorCode::kMalformed);
}

}  // namespace
}  // namespace samebit::verify
