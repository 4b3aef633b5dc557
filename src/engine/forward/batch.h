// What one forward pass computes: rows of tokens, grouped by sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "engine/kv_cache.h"

namespace samebit::engine {

// Consecutive tokens of one sequence. Their keys and values are written to the cache in this pass.
struct RowGroup {
  const std::vector<PageId>* pages = nullptr;  // the sequence's table; covers first_position + row_count tokens
  uint32_t first_row = 0;
  uint32_t row_count = 0;
  Position first_position = 0;
};

struct Batch {
  std::vector<TokenId> tokens;       // [rows]
  std::vector<Position> positions;   // [rows]
  std::vector<RowGroup> groups;      // ascending rows, covering all of them
  std::vector<uint32_t> logit_rows;  // rows whose logits are wanted, ascending

  uint32_t rows() const { return static_cast<uint32_t>(tokens.size()); }
};

}  // namespace samebit::engine
