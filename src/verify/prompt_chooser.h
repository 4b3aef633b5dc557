// Picks prompts for a cell: always the same ones for the same set. Used while planning.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verify/prompt.h"

namespace samebit::verify {

class PromptChooser {
 public:
  // `left_out`: the prompt near the context limit, which only its own cell takes. `prompts` outlives the chooser.
  PromptChooser(const std::vector<PreparedPrompt>& prompts, uint32_t context_max, std::optional<uint32_t> left_out)
      : prompts_(prompts), context_max_(context_max), left_out_(left_out) {}

  struct Wish {
    uint32_t count = UINT32_MAX;
    uint32_t answer_tokens = 16;       // room for so many must be left
    uint32_t prompt_tokens_min = 0;
    uint32_t prompt_tokens_max = UINT32_MAX;
  };
  enum class Order { kAsGiven, kShortestFirst, kLongestFirst };
  // Indices of at most `count` prompts; fewer, or none, where the set has no more.
  std::vector<uint32_t> Choose(const Wish& wish, Order order) const;

 private:
  const std::vector<PreparedPrompt>& prompts_;
  uint32_t context_max_;
  std::optional<uint32_t> left_out_;
};

}  // namespace samebit::verify
