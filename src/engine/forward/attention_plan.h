// Which worker computes which part of attention in one pass: units of (rows of one sequence, KV head, splits).
//
// A prefill unit holds several rows and all their splits; a decode row with a long context is cut into one unit per
// split, so that two workers share it. Parts are merged in ascending order either way (rule A).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/forward/batch.h"
#include "kernels/team.h"

namespace samebit::engine {

struct AttentionUnit {
  uint32_t group = 0;      // of the batch
  uint32_t row_begin = 0;  // within the group
  uint32_t row_count = 0;
  uint32_t kv_head = 0;
  uint32_t split_begin = 0;  // splits of 256 keys
  uint32_t split_end = 0;
  int32_t shared_part =
      -1;  // >= 0: index of the part that this unit leaves for a merge; -1: the unit finishes its rows
};

// Merges the parts of one decode row and KV head.
struct AttentionMerge {
  uint32_t row = 0;  // of the batch
  uint32_t kv_head = 0;
  uint32_t part_begin = 0;
  uint32_t part_count = 0;
};

struct AttentionPlan {
  std::vector<AttentionUnit> units;
  std::vector<uint64_t> cost_before;  // [units + 1], running sum
  std::vector<AttentionMerge> merges;
  uint32_t part_count = 0;
};

struct AttentionShape {
  uint32_t kv_heads = 0;
  uint32_t queries_per_kv_head = 0;
  uint32_t window = 0;  // keys visible to a row, itself included; 0: all
};

// Queries of one unit: enough to use a register tile well, few enough to keep scores in the first-level cache.
inline constexpr uint32_t kUnitQueriesMax = 48;

AttentionPlan PlanAttention(const Batch& batch, const AttentionShape& shape, uint32_t workers);

// Units of one worker: contiguous, about equal cost.
kernels::Range UnitsOf(const AttentionPlan& plan, uint32_t worker, uint32_t workers);

// First position that a row at `position` sees.
inline Position FirstVisible(Position position, uint32_t window) {
  return window == 0 || position + 1 <= window ? 0 : position + 1 - window;
}

}  // namespace samebit::engine
