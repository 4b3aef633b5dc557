#include "engine/forward/attention_plan.h"

#include <algorithm>

#include "arith/attention.h"

namespace samebit::engine {

namespace {

constexpr uint32_t kSplit = arith::kAttentionSplitKeys;

uint64_t CostOf(const AttentionUnit& unit) { return uint64_t{unit.row_count} * (unit.split_end - unit.split_begin); }

}  // namespace

AttentionPlan PlanAttention(const Batch& batch, const AttentionShape& shape, uint32_t workers) {
  AttentionPlan plan;
  const uint32_t rows_per_unit = std::max(1u, kUnitQueriesMax / shape.queries_per_kv_head);
  // Many sequences keep every worker busy by themselves; then cutting at splits would only add a merge.
  const bool share_splits = workers > 1 && batch.groups.size() * shape.kv_heads < 4 * workers;
  for (uint32_t g = 0; g < batch.groups.size(); ++g) {
    const RowGroup& group = batch.groups[g];
    for (uint32_t row = 0; row < group.row_count; row += rows_per_unit) {
      AttentionUnit unit;
      unit.group = g;
      unit.row_begin = row;
      unit.row_count = std::min(rows_per_unit, group.row_count - row);
      const Position first = group.first_position + row;
      unit.split_begin = FirstVisible(first, shape.window) / kSplit;
      unit.split_end = (first + unit.row_count - 1) / kSplit + 1;
      const uint32_t splits = unit.split_end - unit.split_begin;
      for (uint32_t head = 0; head < shape.kv_heads; ++head) {
        unit.kv_head = head;
        if (!share_splits || group.row_count > 1 || splits < 2) {
          plan.units.push_back(unit);
          continue;
        }
        plan.merges.push_back({group.first_row + row, head, plan.part_count, splits});
        for (uint32_t split = 0; split < splits; ++split) {
          AttentionUnit part = unit;
          part.split_begin = unit.split_begin + split;
          part.split_end = part.split_begin + 1;
          part.shared_part = static_cast<int32_t>(plan.part_count++);
          plan.units.push_back(part);
        }
      }
    }
  }
  plan.cost_before.push_back(0);
  for (const AttentionUnit& unit : plan.units) plan.cost_before.push_back(plan.cost_before.back() + CostOf(unit));
  return plan;
}

kernels::Range UnitsOf(const AttentionPlan& plan, uint32_t worker, uint32_t workers) {
  const uint64_t total = plan.cost_before.back();
  // The unit at which a share of the cost is reached; the same function gives both ends, so nothing is left out.
  const auto bound = [&](uint32_t index) {
    const uint64_t target = total * index / workers;
    return static_cast<uint32_t>(std::lower_bound(plan.cost_before.begin(), plan.cost_before.end(), target) -
                                 plan.cost_before.begin());
  };
  return {bound(worker), worker + 1 == workers ? static_cast<uint32_t>(plan.units.size()) : bound(worker + 1)};
}

}  // namespace samebit::engine
