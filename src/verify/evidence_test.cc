// For each axis: a run that shows it, and runs that do not.
#include "verify/evidence.h"

#include <gtest/gtest.h>

#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

// A cell of two requests, and a run in which nothing special happened.
struct Case {
  explicit Case(Axis axis, std::string value = "") {
    cell.axis = axis;
    cell.value = std::move(value);
    cell.requests = {{.prompt = 0, .tokens_max = 16}, {.prompt = 1, .tokens_max = 16}};
    prompts = {MadeUpPrompt("a", 40), MadeUpPrompt("b", 200)};
    run.requests = {{MadeUpCompletion(40, 16), ""}, {MadeUpCompletion(200, 16), ""}};
  }
  engine::RequestTrace& trace(size_t index) { return run.requests[index].completion->trace; }
  void both(uint32_t engine::RequestTrace::*field, uint32_t value) { trace(0).*field = trace(1).*field = value; }
  Evidence evidence() {
    run.options = options_seen.value_or(cell.options);
    return EvidenceOf(cell, run, prompts);
  }
  bool shown() { return evidence().shown; }

  Cell cell;
  CellRun run;
  std::vector<PreparedPrompt> prompts;
  std::optional<engine::EngineOptions> options_seen;
};

constexpr auto kSequences = &engine::RequestTrace::sequences_in_step_max;
constexpr auto kChunk = &engine::RequestTrace::prefill_chunk_max;

TEST(Evidence, concurrency_needs_that_many_in_one_pass) {
  Case c(Axis::kConcurrency, "8");
  c.cell.in_flight = 8;
  EXPECT_FALSE(c.shown());
  c.trace(0).sequences_in_step_max = 8;
  c.trace(1).sequences_in_step_max = 7;
  EXPECT_FALSE(c.shown());
  c.both(kSequences, 8);
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, a_request_alone_must_be_alone) {
  Case c(Axis::kConcurrency, "1");
  EXPECT_TRUE(c.shown());
  c.trace(1).sequences_in_step_max = 2;
  EXPECT_FALSE(c.shown());
}

TEST(Evidence, prompt_length_needs_prompts_within_the_bounds) {
  Case c(Axis::kPromptLength, "medium");
  c.both(kChunk, 40);
  c.cell.prompt_tokens = {40, 200};
  EXPECT_TRUE(c.shown());
  c.cell.prompt_tokens = {41, 200};
  EXPECT_FALSE(c.shown());
  c.cell.prompt_tokens = {40, 199};
  EXPECT_FALSE(c.shown());
}

TEST(Evidence, output_length_needs_an_answer_of_that_length) {
  Case c(Axis::kOutputLength, "16");
  EXPECT_TRUE(c.shown());
  c.cell.requests[0].tokens_max = 17;
  EXPECT_FALSE(c.shown());
}

TEST(Evidence, a_uniform_batch_is_one_request_many_times) {
  Case c(Axis::kBatchShape, "uniform");
  c.cell.in_flight = 2;
  c.both(kSequences, 2);
  EXPECT_FALSE(c.shown());
  c.cell.requests[1].prompt = 0;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, a_mixed_batch_has_prefill_beside_other_rows) {
  Case c(Axis::kBatchShape, "mixed");
  c.both(kSequences, 2);
  EXPECT_FALSE(c.shown());
  c.trace(1).rows_in_step_max = 65;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, neighbours_must_have_been_there) {
  Case c(Axis::kNeighbours, "hot");
  c.cell.in_flight = 4;
  c.both(kSequences, 4);
  EXPECT_FALSE(c.shown());
  c.run.company_started = 3;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, a_chunk_must_have_its_size_and_its_prompt_more) {
  Case c(Axis::kPrefillChunk, "7");
  c.cell.options.prefill_chunk = 7;
  c.both(kChunk, 7);
  EXPECT_TRUE(c.shown());
  c.trace(1).prefill_chunk_max = 8;
  EXPECT_FALSE(c.shown());
  c.both(kChunk, 40);
  c.cell.options.prefill_chunk = 40;
  EXPECT_FALSE(c.shown()) << "a prompt of 40 tokens is not cut by chunks of 40";
}

TEST(Evidence, a_whole_prompt_is_one_pass) {
  Case c(Axis::kPrefillChunk, "whole");
  c.cell.options.prefill_chunk = 1024;
  c.trace(0).prefill_chunk_max = 40;
  c.trace(1).prefill_chunk_max = 199;
  EXPECT_FALSE(c.shown());
  c.trace(1).prefill_chunk_max = 200;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, a_warm_cache_must_be_hit_by_every_request) {
  Case c(Axis::kPrefixCache, "warm");
  c.cell.options.prefix_cache = true;
  c.trace(0).cached_prompt_tokens = 32;
  EXPECT_FALSE(c.shown());
  c.trace(1).cached_prompt_tokens = 192;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, a_cold_cache_must_be_on_and_not_hit) {
  Case c(Axis::kPrefixCache, "cold");
  c.cell.options.prefix_cache = false;
  EXPECT_FALSE(c.shown());
  c.cell.options.prefix_cache = true;
  EXPECT_TRUE(c.shown());
  c.trace(1).cached_prompt_tokens = 16;
  EXPECT_FALSE(c.shown());
}

TEST(Evidence, without_a_cache_a_second_time_must_have_had_a_first) {
  Case c(Axis::kPrefixCache, "off");
  c.cell.before = Before::kSameRequests;
  EXPECT_FALSE(c.shown());
  c.run.steps_before = 10;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, preemption_must_have_hit_a_compared_request) {
  Case c(Axis::kPreemption, "forced");
  c.run.counters.preemptions = 9;  // of the company only
  EXPECT_FALSE(c.shown());
  c.trace(1).preemptions = 1;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, settings_are_those_that_the_engine_reports) {
  for (Axis axis : {Axis::kTensorParallel, Axis::kThreads, Axis::kIsa, Axis::kPageTokens}) {
    Case c(axis);
    c.cell.options.tensor_parallel = 4;
    c.cell.options.threads = 4;
    c.cell.options.isa = kernels::Isa::kAvx2;
    c.cell.options.page_tokens = 32;
    EXPECT_TRUE(c.shown()) << AxisName(axis);
    c.options_seen = engine::EngineOptions{};
    EXPECT_FALSE(c.shown()) << AxisName(axis);
  }
}

TEST(Evidence, a_page_size_needs_sequences_longer_than_a_page) {
  Case c(Axis::kPageTokens, "64");
  c.cell.options.page_tokens = 64;
  EXPECT_FALSE(c.shown()) << "40 + 16 tokens fit one page";
  c.run.requests[0].completion->choices[0] = MadeUpChoice(25);
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, the_same_process_must_have_served_others) {
  Case c(Axis::kProcess, "same");
  EXPECT_FALSE(c.shown());
  c.run.steps_before = 3;
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, a_restart_is_another_process_with_the_same_model) {
  Case c(Axis::kProcess, "restarted");
  c.cell.where = Where::kRestarted;
  c.run.own_process_id = 10;
  c.run.own_model_sha256 = c.run.child_model_sha256 = "ab";
  c.run.child_process_id = 10;
  EXPECT_FALSE(c.shown());
  c.run.child_process_id = 11;
  EXPECT_TRUE(c.shown());
  c.run.child_model_sha256 = "cd";
  EXPECT_FALSE(c.shown());
}

TEST(Evidence, a_redeployment_loads_another_copy) {
  Case c(Axis::kProcess, "redeployed");
  c.cell.where = Where::kRedeployed;
  c.run.own_process_id = 10;
  c.run.child_process_id = 11;
  c.run.own_model_sha256 = c.run.child_model_sha256 = "ab";
  c.run.own_model_path = c.run.child_model_path = "m.gguf";
  EXPECT_FALSE(c.shown());
  c.run.child_model_path = "copy.gguf";
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, samples_must_be_as_many_as_asked_and_not_all_alike) {
  Case c(Axis::kSamples, "4");
  c.cell.requests = {{.prompt = 0, .sampling = SamplingKind::kSeeded, .samples = 4}};
  c.run.requests = {{MadeUpCompletion(40, 16, 3), ""}};
  EXPECT_FALSE(c.shown());
  c.run.requests = {{MadeUpCompletion(40, 16, 4), ""}};
  EXPECT_TRUE(c.shown());
  for (engine::Choice& choice : c.run.requests[0].completion->choices) choice.tokens = MadeUpChoice(16).tokens;
  EXPECT_FALSE(c.shown());
}

TEST(Evidence, an_order_needs_requests_that_share_a_pass) {
  Case c(Axis::kOrder, "reversed");
  c.cell.reordered = true;
  c.cell.in_flight = 2;
  EXPECT_FALSE(c.shown());
  c.both(kSequences, 2);
  EXPECT_TRUE(c.shown());
}

TEST(Evidence, no_axis_is_shown_by_a_run_without_answers) {
  for (Axis axis : AllAxes()) {
    Case failed(axis);
    failed.run.failure = "refused";
    EXPECT_FALSE(failed.shown()) << AxisName(axis);
    Case impossible(axis);
    impossible.cell.impossible = "too small";
    EXPECT_EQ(impossible.evidence().missing, "too small");
    Case unanswered(axis);
    unanswered.run.requests[1].completion.reset();
    unanswered.run.requests[1].error = "no memory";
    EXPECT_EQ(unanswered.evidence().missing, "no memory") << AxisName(axis);
    Case fewer(axis);
    fewer.run.requests.pop_back();
    EXPECT_FALSE(fewer.shown()) << AxisName(axis);
  }
}

}  // namespace
}  // namespace samebit::verify
