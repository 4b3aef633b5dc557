#include "verify/prompt_chooser.h"

#include <algorithm>

namespace samebit::verify {

std::vector<uint32_t> PromptChooser::Choose(const Wish& wish, Order order) const {
  std::vector<uint32_t> chosen;
  for (uint32_t i = 0; i < prompts_.size(); ++i) {
    const PreparedPrompt& prompt = prompts_[i];
    const uint32_t tokens = prompt.token_count();
    if (left_out_ == i || tokens < wish.prompt_tokens_min || tokens > wish.prompt_tokens_max) continue;
    if (uint64_t{tokens} + wish.answer_tokens > context_max_) continue;
    if (prompt.tokens_max != 0 && prompt.tokens_max < wish.answer_tokens) continue;
    chosen.push_back(i);
  }
  const auto tokens_of = [&](uint32_t i) { return prompts_[i].token_count(); };
  if (order == Order::kShortestFirst)
    std::stable_sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) { return tokens_of(a) < tokens_of(b); });
  if (order == Order::kLongestFirst)
    std::stable_sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) { return tokens_of(a) > tokens_of(b); });
  if (chosen.size() > wish.count) chosen.resize(wish.count);
  return chosen;
}

}  // namespace samebit::verify
