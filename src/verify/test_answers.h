// Made-up answers, runs and reports for the tests of this folder. Not part of the program.
#pragma once

#include <string>
#include <vector>

#include "engine/request.h"
#include "verify/cell.h"
#include "verify/cell_run.h"
#include "verify/prompt.h"
#include "verify/replay_report.h"

namespace samebit::verify {

// An answer of `count` tokens whose ids, log-probabilities, candidates and digests follow from `salt` and the position.
inline engine::Choice MadeUpChoice(uint32_t count, uint32_t salt = 0) {
  engine::Choice choice;
  for (uint32_t i = 0; i < count; ++i) {
    engine::TokenRecord token;
    token.id = static_cast<TokenId>(100 + salt * 31 + i);
    token.logprob = -0.25f * static_cast<float>(i + 1);
    token.margin = 0.5f + static_cast<float>(i);
    token.logits_digest = Sha256::Of(std::to_string(salt) + ":" + std::to_string(i));
    for (uint32_t rank = 0; rank < 5; ++rank)
      token.top.push_back(
          {static_cast<TokenId>(100 + salt * 31 + i + rank), token.logprob - 0.1f * static_cast<float>(rank)});
    choice.tokens.push_back(std::move(token));
  }
  return choice;
}

inline engine::Completion MadeUpCompletion(uint32_t prompt_tokens, uint32_t count, uint32_t samples = 1) {
  engine::Completion completion;
  completion.prompt_tokens = prompt_tokens;
  completion.trace.sequences_in_step_max = 1;
  completion.trace.rows_in_step_max = 1;
  completion.trace.prefill_chunk_max = 1;
  for (uint32_t sample = 0; sample < samples; ++sample) {
    completion.choices.push_back(MadeUpChoice(count, sample));
    completion.choices.back().sample_index = sample;
  }
  return completion;
}

inline PreparedPrompt MadeUpPrompt(const std::string& id, uint32_t tokens) {
  return {id, "chat", std::vector<TokenId>(tokens, 7), 0, 1, {}, 0};
}

}  // namespace samebit::verify
