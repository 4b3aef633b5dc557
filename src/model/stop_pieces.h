// Control tokens that end a turn or a document by their name, whatever the file's id fields say.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace samebit::model {

// ChatML, Llama 3, Gemma, GPT-2 kin. A model that emits one of these as a control token has finished its answer;
// files often name only one of them as eos.
inline constexpr std::array<std::string_view, 7> kStopPieces = {
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<|end|>"};

inline bool IsStopPiece(std::string_view piece) { return std::ranges::count(kStopPieces, piece) != 0; }

// TokenizerSpec::stop_ids is ascending and without repeats.
inline void SortStopIds(std::vector<TokenId>* ids) {
  std::ranges::sort(*ids);
  ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
}

}  // namespace samebit::model
