#include "engine/forward/attention_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "arith/test_support.h"

namespace samebit::engine {
namespace {

constexpr uint32_t kSplit = 256;

Batch RandomBatch(arith::testing::Random& random) {
  Batch batch;
  const uint32_t groups = 1 + random.Below(6);
  for (uint32_t g = 0; g < groups; ++g) {
    RowGroup group;
    group.first_row = batch.rows();
    group.row_count = random.Below(2) == 0 ? 1 : 1 + random.Below(120);
    group.first_position = random.Below(3) == 0 ? random.Below(20) : random.Below(2000);
    for (uint32_t i = 0; i < group.row_count; ++i) {
      batch.tokens.push_back(0);
      batch.positions.push_back(group.first_position + i);
    }
    batch.groups.push_back(group);
  }
  return batch;
}

TEST(AttentionPlan, computes_every_row_head_and_split_exactly_once) {
  arith::testing::Random random(1);
  uint32_t shared_plans = 0;
  for (int round = 0; round < 500; ++round) {
    const Batch batch = RandomBatch(random);
    AttentionShape shape;
    shape.kv_heads = 1 + random.Below(4);
    shape.queries_per_kv_head = 1 + random.Below(60);
    shape.window = random.Below(2) == 0 ? 0 : 1 + random.Below(600);
    const uint32_t workers = 1 + random.Below(5);
    const AttentionPlan plan = PlanAttention(batch, shape, workers);
    shared_plans += !plan.merges.empty();

    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> computed;  // row, head, split
    std::map<uint32_t, uint32_t> parts;
    for (const AttentionUnit& unit : plan.units) {
      const RowGroup& group = batch.groups[unit.group];
      ASSERT_LE(unit.row_begin + unit.row_count, group.row_count);
      EXPECT_TRUE(unit.row_count == 1 || unit.row_count * shape.queries_per_kv_head <= kUnitQueriesMax);
      if (unit.shared_part >= 0) ++parts[static_cast<uint32_t>(unit.shared_part)];
      for (uint32_t row = unit.row_begin; row < unit.row_begin + unit.row_count; ++row)
        for (uint32_t split = unit.split_begin; split < unit.split_end; ++split)
          ++computed[{group.first_row + row, unit.kv_head, split}];
    }
    for (uint32_t row = 0; row < batch.rows(); ++row) {
      const Position position = batch.positions[row];
      for (uint32_t head = 0; head < shape.kv_heads; ++head)
        for (uint32_t split = FirstVisible(position, shape.window) / kSplit; split <= position / kSplit; ++split)
          ASSERT_EQ((computed[{row, head, split}]), 1u) << "round " << round << ", row " << row << ", split " << split;
    }
    for (const auto& [key, count] : computed) ASSERT_EQ(count, 1u);
    // Every part is written by one unit and read by one merge, in the order of its splits.
    EXPECT_EQ(parts.size(), plan.part_count);
    uint32_t merged = 0;
    for (const AttentionMerge& merge : plan.merges) {
      EXPECT_EQ(merge.part_begin, merged);
      merged += merge.part_count;
    }
    EXPECT_EQ(merged, plan.part_count);
    EXPECT_TRUE(workers > 1 || plan.merges.empty());
  }
  EXPECT_GT(shared_plans, 20u);
}

TEST(AttentionPlan, workers_take_every_unit_once_in_about_equal_parts) {
  arith::testing::Random random(2);
  for (int round = 0; round < 300; ++round) {
    const uint32_t workers = 1 + random.Below(9);
    const AttentionPlan plan = PlanAttention(RandomBatch(random), {1 + random.Below(4), 4, 0}, workers);
    uint32_t next = 0;
    uint64_t dearest = 0;
    for (size_t i = 0; i < plan.units.size(); ++i)
      dearest = std::max(dearest, plan.cost_before[i + 1] - plan.cost_before[i]);
    for (uint32_t worker = 0; worker < workers; ++worker) {
      const kernels::Range range = UnitsOf(plan, worker, workers);
      EXPECT_EQ(range.begin, next);
      EXPECT_GE(range.end, range.begin);
      next = range.end;
      const uint64_t cost = plan.cost_before[range.end] - plan.cost_before[range.begin];
      EXPECT_LE(cost, plan.cost_before.back() / workers + dearest + 1);
    }
    EXPECT_EQ(next, plan.units.size());
  }
}

TEST(AttentionPlan, an_empty_batch_has_no_units) {
  const AttentionPlan plan = PlanAttention({}, {2, 2, 0}, 3);
  EXPECT_TRUE(plan.units.empty());
  for (uint32_t worker = 0; worker < 3; ++worker) EXPECT_TRUE(UnitsOf(plan, worker, 3).empty());
}

TEST(AttentionPlan, a_window_shows_the_token_itself_and_those_before) {
  EXPECT_EQ(FirstVisible(10, 0), 0u);
  EXPECT_EQ(FirstVisible(10, 1), 10u);
  EXPECT_EQ(FirstVisible(10, 4), 7u);
  EXPECT_EQ(FirstVisible(10, 11), 0u);
  EXPECT_EQ(FirstVisible(10, 50), 0u);
}

}  // namespace
}  // namespace samebit::engine
