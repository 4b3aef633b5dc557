#include "verify/plan.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "verify/base_answers.h"
#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

// 40 prompts of chat length, the made ones, and the one near the limit.
struct Setting {
  explicit Setting(const PlanSizes& sizes, uint32_t context_max = 8192) : context_max(context_max) {
    for (uint32_t i = 0; i < 40; ++i) prompts.push_back(MadeUpPrompt("p" + std::to_string(i), 35 + i));
    for (uint32_t tokens : sizes.long_prompt_tokens) prompts.push_back(MadeUpPrompt("long", tokens));
    limit_prompt = static_cast<uint32_t>(prompts.size());
    prompts.push_back(MadeUpPrompt("near-limit", context_max - 100));
    engine::EngineOptions chosen;
    chosen.threads = 2;
    chosen.isa = kernels::Isa::kAvx2;
    inputs = {sizes,    BaseOptions(chosen), {kernels::Isa::kScalar, kernels::Isa::kAvx2}, 2, context_max,
              &prompts, limit_prompt};
  }
  uint32_t context_max;
  std::vector<PreparedPrompt> prompts;
  uint32_t limit_prompt;
  PlanInputs inputs;
};

const std::vector<std::pair<std::string, std::vector<std::string>>> kValues = {
    {"concurrency", {"1", "8", "32", "peak"}},
    {"prompt_length", {"short", "medium", "near limit"}},
    {"output_length", {"16", "128", "1024"}},
    {"batch_shape", {"uniform", "mixed"}},
    {"neighbours", {"greedy", "hot"}},
    {"prefill_chunk", {"whole", "1", "7", "64", "512"}},
    {"prefix_cache", {"off", "cold", "warm"}},
    {"preemption", {"forced"}},
    {"tensor_parallel", {"1", "2", "4"}},
    {"threads", {"1", "2", "3", "4"}},
    {"isa", {"scalar", "avx2"}},
    {"process", {"same", "restarted", "redeployed"}},
    {"page_tokens", {"16", "32", "64", "128", "256"}},
    {"order", {"as given", "reversed", "shuffled"}},
    {"n", {"1", "4", "8"}},
};

class BothPlans : public testing::TestWithParam<bool> {
 protected:
  const PlanSizes& sizes() const { return GetParam() ? FullSizes() : QuickSizes(); }
};

TEST_P(BothPlans, hold_every_value_of_every_axis) {
  const Setting setting(sizes());
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const Cell& cell : MakePlan(setting.inputs)) {
    if (found.empty() || found.back().first != AxisName(cell.axis)) found.push_back({AxisName(cell.axis), {}});
    found.back().second.push_back(cell.value);
  }
  EXPECT_EQ(found, kValues);
}

TEST_P(BothPlans, give_every_cell_something_to_do) {
  const Setting setting(sizes());
  for (const Cell& cell : MakePlan(setting.inputs)) {
    EXPECT_EQ(cell.impossible, "") << AxisName(cell.axis) << " " << cell.value;
    EXPECT_FALSE(cell.requests.empty()) << AxisName(cell.axis) << " " << cell.value;
    for (const CellRequest& request : cell.requests)
      EXPECT_LE(setting.prompts[request.prompt].token_count() + request.tokens_max, setting.context_max);
  }
}

TEST_P(BothPlans, ask_all_prompts_at_once) {
  const Setting setting(sizes());
  for (const Cell& cell : MakePlan(setting.inputs)) {
    if (cell.axis != Axis::kConcurrency || cell.value == "1") continue;
    std::set<uint32_t> asked;
    for (const CellRequest& request : cell.requests) asked.insert(request.prompt);
    EXPECT_EQ(asked.size(), setting.prompts.size() - 1) << cell.value;  // all but the one near the limit
    EXPECT_FALSE(asked.contains(setting.limit_prompt));
  }
}

TEST_P(BothPlans, are_the_same_twice) {
  const Setting setting(sizes());
  const std::vector<Cell> once = MakePlan(setting.inputs), twice = MakePlan(setting.inputs);
  ASSERT_EQ(once.size(), twice.size());
  for (size_t i = 0; i < once.size(); ++i) {
    ASSERT_EQ(once[i].requests.size(), twice[i].requests.size());
    for (size_t j = 0; j < once[i].requests.size(); ++j)
      EXPECT_EQ(once[i].requests[j].prompt, twice[i].requests[j].prompt);
  }
}

INSTANTIATE_TEST_SUITE_P(Plan, BothPlans, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "full" : "quick"; });

TEST(Plan, the_first_cell_is_the_base_again) {
  const Setting setting(QuickSizes());
  const Cell repeat = MakePlan(setting.inputs).front();
  EXPECT_TRUE(DifferencesFromBase(repeat, setting.inputs.base).empty());
}

TEST(Plan, most_axes_have_a_cell_that_changes_nothing_else) {
  const Setting setting(QuickSizes());
  std::set<std::string> alone;
  for (const Cell& cell : MakePlan(setting.inputs)) {
    const auto differs = DifferencesFromBase(cell, setting.inputs.base);
    if (differs.size() == 1) alone.insert(differs.front());
  }
  for (const char* axis :
       {"concurrency", "prefill_chunk", "prefix_cache", "tensor_parallel", "threads", "isa", "process", "n"})
    EXPECT_TRUE(alone.contains(axis)) << axis;
}

TEST(Plan, says_what_a_small_context_cannot_hold) {
  Setting setting(QuickSizes(), 256);
  std::erase_if(setting.prompts, [](const PreparedPrompt& prompt) { return prompt.token_count() > 240; });
  setting.inputs.limit_prompt = std::nullopt;
  std::map<std::string, std::string> impossible;
  for (const Cell& cell : MakePlan(setting.inputs))
    if (!cell.impossible.empty()) impossible[std::string(AxisName(cell.axis)) + " " + cell.value] = cell.impossible;
  EXPECT_EQ(impossible.count("output_length 1024"), 1u);
  EXPECT_EQ(impossible.count("prefill_chunk 512"), 1u);
  EXPECT_EQ(impossible.count("prompt_length near limit"), 1u);
  EXPECT_NE(impossible["output_length 1024"].find("256"), std::string::npos);
}

TEST(Plan, base_answers_are_as_long_as_the_longest_request) {
  Cell first, second;
  first.requests = {{.prompt = 3, .tokens_max = 16}};
  second.requests = {{.prompt = 3, .tokens_max = 128}, {.prompt = 4, .sampling = SamplingKind::kSeeded, .samples = 2}};
  const auto needed = BaseAnswersNeeded({first, second});
  EXPECT_EQ(needed.size(), 3u);
  EXPECT_EQ((needed.at({3, SamplingKind::kGreedy, 0})), 128u);
  EXPECT_EQ((needed.at({4, SamplingKind::kSeeded, 1})), 16u);
}

}  // namespace
}  // namespace samebit::verify
