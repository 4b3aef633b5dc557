#include "engine/grammar_mask.h"

#include <algorithm>

namespace samebit::engine {
namespace {

enum class Bit { kSet, kClear };

void Put(std::vector<uint32_t>& words, TokenId id, Bit bit) {
  uint32_t& word = words[static_cast<size_t>(id) / 32];
  const uint32_t one = 1u << (id % 32);
  word = bit == Bit::kSet ? word | one : word & ~one;
}

bool IsEmpty(const std::vector<uint32_t>& words) {
  return std::all_of(words.begin(), words.end(), [](uint32_t word) { return word == 0; });
}

}  // namespace

Status MaskByGrammar(text::GrammarState& state, const std::vector<TokenId>& stop_ids, std::vector<uint32_t>& words,
                     SampleInput& input) {
  words.assign((input.vocabulary + 31) / 32, 0);
  ASSIGN_OR_RETURN(const bool may_end, state.Mask(words));
  for (const TokenId id : input.masked) Put(words, id, Bit::kClear);
  if (may_end && (input.masked.empty() || IsEmpty(words))) {
    for (const TokenId id : stop_ids) Put(words, id, Bit::kSet);
    input.masked = {};
  }
  if (IsEmpty(words)) return Error{ErrorCode::kUnsupported, "the grammar and the stop tokens leave nothing to choose"};
  input.allowed = words;
  return {};
}

}  // namespace samebit::engine
