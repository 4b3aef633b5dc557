#include "verify/judge.h"

#include <gtest/gtest.h>

#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

// One cell, "preemption forced", of one request of 8 tokens, with its base.
struct Case {
  Case() {
    cell.axis = Axis::kPreemption;
    cell.value = "forced";
    cell.requests = {{.prompt = 0, .tokens_max = 8}};
    prompts = {MadeUpPrompt("a", 40)};
    run.requests = {{MadeUpCompletion(40, 8), ""}};
    run.requests[0].completion->trace.preemptions = 1;
    bases.Put({0, SamplingKind::kGreedy, 0}, MadeUpChoice(20), 20);
  }
  CellReport judged() const { return JudgeCell(cell, run, EvidenceOf(cell, run, prompts), bases, prompts, engine::EngineOptions{}); }
  Cell cell;
  CellRun run;
  BaseAnswers bases;
  std::vector<PreparedPrompt> prompts;
};

TEST(Judge, equal_bits_and_evidence_are_exact) {
  const CellReport report = Case().judged();
  EXPECT_EQ(report.verdict, Verdict::kExact);
  ASSERT_EQ(report.samples.size(), 1u);
  EXPECT_EQ(report.samples[0].prompt_id, "a");
  EXPECT_EQ(report.samples[0].prompt_tokens, 40u);
}

TEST(Judge, equal_bits_without_evidence_are_not_measured) {
  Case c;
  c.run.requests[0].completion->trace.preemptions = 0;
  EXPECT_EQ(c.judged().verdict, Verdict::kNotMeasured);
  EXPECT_NE(c.judged().not_measured_reason, "");
}

TEST(Judge, a_difference_counts_with_and_without_evidence) {
  Case c;
  c.run.requests[0].completion->choices[0].tokens[3].logits_digest.bytes[0] ^= 1;
  EXPECT_EQ(c.judged().verdict, Verdict::kDivergent);
  c.run.requests[0].completion->trace.preemptions = 0;
  EXPECT_EQ(c.judged().verdict, Verdict::kDivergent);
}

TEST(Judge, a_missing_sample_is_a_difference) {
  Case c;
  c.run.requests[0].completion->choices.clear();
  EXPECT_EQ(c.judged().verdict, Verdict::kDivergent);
}

TEST(Judge, a_request_without_an_answer_is_not_measured) {
  Case c;
  c.run.requests[0] = {std::nullopt, "the budget is used up"};
  const CellReport report = c.judged();
  EXPECT_EQ(report.verdict, Verdict::kNotMeasured);
  EXPECT_EQ(report.not_measured_reason, "the budget is used up");
  ASSERT_EQ(report.samples.size(), 1u);
  EXPECT_EQ(report.samples[0].error, "the budget is used up");
}

TEST(Judge, a_missing_base_answer_is_not_measured) {
  Case c;
  c.bases = {};
  EXPECT_EQ(c.judged().verdict, Verdict::kNotMeasured);
}

TEST(Judge, a_cell_that_did_not_run_is_not_measured) {
  Case c;
  c.run.requests.clear();
  c.run.failure = "the engine refused";
  const CellReport report = c.judged();
  EXPECT_EQ(report.verdict, Verdict::kNotMeasured);
  EXPECT_EQ(report.not_measured_reason, "the engine refused");
}

}  // namespace
}  // namespace samebit::verify
