#include "verify/remote/remote_plan.h"

#include <set>

#include <gtest/gtest.h>

#include "verify/prompt_set.h"
#include "verify/remote/probe.h"
#include "verify/remote/remote_evidence.h"
#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

struct Planned {
  explicit Planned(RemotePlanInputs inputs, const PlanSizes& sizes = QuickSizes()) {
    prompts = RemotePrompts(BuiltInPrompts(), sizes);
    inputs.sizes = sizes;
    inputs.prompts = &prompts;
    cells = MakeRemotePlan(inputs);
  }
  std::vector<PreparedPrompt> prompts;
  std::vector<Cell> cells;
};

TEST(RemotePlan, has_the_axes_that_a_client_can_move) {
  for (const PlanSizes* sizes : {&QuickSizes(), &FullSizes()}) {
    const Planned planned({.restarts = true}, *sizes);
    std::set<Axis> axes;
    for (const Cell& cell : planned.cells) {
      axes.insert(cell.axis);
      EXPECT_EQ(cell.impossible, "");
      EXPECT_FALSE(cell.requests.empty()) << AxisName(cell.axis) << " " << cell.value;
    }
    EXPECT_EQ(axes, (std::set<Axis>{Axis::kConcurrency, Axis::kPromptLength, Axis::kOutputLength, Axis::kBatchShape, Axis::kNeighbours,
                                    Axis::kProcess, Axis::kOrder, Axis::kSamples, Axis::kStreaming, Axis::kRepeat}));
  }
}

TEST(RemotePlan, without_seeds_samples_are_impossible_and_nothing_else_is_sampled) {
  const Planned planned({.seeds = false});
  for (const Cell& cell : planned.cells) {
    EXPECT_EQ(cell.axis == Axis::kSamples, !cell.impossible.empty());
    EXPECT_NE(cell.axis, Axis::kProcess);
    for (const CellRequest& request : cell.requests) EXPECT_EQ(request.sampling, SamplingKind::kGreedy);
  }
}

TEST(RemotePlan, keeps_to_the_requests_at_once_that_are_allowed) {
  const Planned planned({.in_flight_max = 8});
  for (const Cell& cell : planned.cells) EXPECT_LE(cell.in_flight, 8u);
}

// One cell of two requests, as a client saw it.
struct Seen {
  Seen() {
    cell.axis = Axis::kConcurrency;
    cell.value = "8";
    cell.in_flight = 8;
    cell.requests = {{.prompt = 0, .tokens_max = 4}, {.prompt = 1, .tokens_max = 4}};
    for (int i = 0; i < 2; ++i) {
      run.requests.push_back({MadeUpCompletion(10, 4), "", false, 1});
      run.requests.back().completion->trace.sequences_in_step_max = 8;
    }
    run.outside.emplace();
    facts.works_on_several = true;
  }
  Evidence evidence() const { return RemoteEvidenceOf(cell, run, facts); }
  Cell cell;
  CellRun run;
  ServerFacts facts;
};

TEST(RemoteEvidence, needs_requests_in_flight_together) {
  Seen seen;
  EXPECT_TRUE(seen.evidence().shown);
  seen.run.requests[0].completion->trace.sequences_in_step_max = 1;
  EXPECT_FALSE(seen.evidence().shown);
}

TEST(RemoteEvidence, believes_the_servers_count_if_it_was_asked_often_enough) {
  Seen seen;
  seen.run.outside->running_counted_max = 1;
  seen.run.outside->counts_taken = 49;
  EXPECT_TRUE(seen.evidence().shown);
  seen.run.outside->counts_taken = 50;
  EXPECT_FALSE(seen.evidence().shown);
  seen.facts.works_on_several = false;
  seen.run.outside->counts_taken = 5;
  EXPECT_EQ(seen.evidence().missing, "the server never worked on two requests at once");
  seen.run.outside->running_counted_max = 2;
  EXPECT_TRUE(seen.evidence().shown);
  seen.run.outside->running_counted_max.reset();
  EXPECT_FALSE(seen.evidence().shown);
}

TEST(RemoteEvidence, another_maker_and_a_missing_answer_show_nothing) {
  Seen seen;
  seen.run.outside->other_maker = "the fingerprint went";
  EXPECT_EQ(seen.evidence().missing, "the fingerprint went");
  Seen unanswered;
  unanswered.run.requests[1] = {std::nullopt, "the server answered 500", false, 0};
  EXPECT_EQ(unanswered.evidence().missing, "the server answered 500");
}

TEST(RemoteEvidence, an_axis_of_engines_cannot_be_shown) {
  Seen seen;
  seen.cell.axis = Axis::kThreads;
  EXPECT_FALSE(seen.evidence().shown);
}

TEST(Gauge, is_found_by_its_whole_name_and_added_up_over_labels) {
  const char* text = "# HELP a:b x\na:b_total 9\na:b{m=\"x\"} 2.0\na:b{m=\"y\"} 3\nc NaN\n";
  EXPECT_EQ(GaugeIn(text, "a:b"), 5u);
  EXPECT_EQ(GaugeIn(text, "a:b_total"), 9u);
  EXPECT_EQ(GaugeIn(text, "a"), std::nullopt);
  EXPECT_EQ(GaugeIn(text, "c"), std::nullopt);
  EXPECT_EQ(GaugeIn("a:b{", "a:b"), std::nullopt);
  EXPECT_EQ(GaugeIn("", "a:b"), std::nullopt);
}

}  // namespace
}  // namespace samebit::verify
