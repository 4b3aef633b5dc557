#include "verify/base_answers.h"

#include <algorithm>

namespace samebit::verify {

std::map<BaseKey, uint32_t> BaseAnswersNeeded(const std::vector<Cell>& cells) {
  std::map<BaseKey, uint32_t> needed;
  for (const Cell& cell : cells) {
    if (!cell.impossible.empty()) continue;
    for (const CellRequest& request : cell.requests)
      for (uint32_t sample = 0; sample < request.samples; ++sample) {
        uint32_t& tokens = needed[{request.prompt, request.sampling, sample}];
        tokens = std::max(tokens, request.tokens_max);
      }
  }
  return needed;
}

const engine::Choice* BaseAnswers::Find(const BaseKey& key) const {
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second.answer;
}

uint32_t BaseAnswers::TokensAsked(const BaseKey& key) const {
  const auto found = answers_.find(key);
  return found == answers_.end() ? 0 : found->second.tokens_asked;
}

}  // namespace samebit::verify
