#include "verify/plan.h"

namespace samebit::verify {

// Measured speeds behind these numbers: about 100 tokens/s alone, 300 to 600 batched, 5 with the scalar code.
const PlanSizes& QuickSizes() {
  static const PlanSizes sizes = {
      .output_tokens = 16,
      .alone_prompts = 2,
      .seeded_prompts = 6,
      .repeat_prompts = 4,
      .batch_prompts = 6,
      .scalar_prompts = 1,
      .scalar_output_tokens = 4,
      .output_128_prompts = 2,
      .output_1024_prompts = 1,
      .limit_output_tokens = 8,
      // Token by token, a prompt of 8,000 tokens would take longer than the rest of the matrix; the axis
      // prefill_chunk shows on shorter prompts that pieces do not matter.
      .limit_base_chunk = 64,
      .context_max = 8192,
      // One longer than each chunk that is measured, and one longer than the largest KV page.
      .long_prompt_tokens = {160, 240, 300, 560},
  };
  return sizes;
}

const PlanSizes& FullSizes() {
  static const PlanSizes sizes = {
      .output_tokens = 128,
      .alone_prompts = 12,
      .seeded_prompts = 40,
      .repeat_prompts = 40,
      .batch_prompts = 24,
      .scalar_prompts = 4,
      .scalar_output_tokens = 32,
      .output_128_prompts = 40,
      .output_1024_prompts = 8,
      .limit_output_tokens = 64,
      .limit_base_chunk = 1,
      .context_max = 32768,
      .long_prompt_tokens = {160, 240, 300, 560, 800, 1000, 2048, 4096},
  };
  return sizes;
}

}  // namespace samebit::verify
