// GET /tokenizer_info, in vLLM's shape: what a tokenizer_config.json of this model would say. Evaluation harnesses read
// it to tokenize by /tokenize (lm_eval's "remote" tokenizer). Only what is known is said; null: the model has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace samebit::openai {

struct TokenizerInfo {
  // As the vocabulary writes them, "<|im_end|>": /tokenize makes them that token again.
  std::optional<std::string> bos, eos, unk, pad;
  bool add_bos = false;
  bool add_eos = false;
  uint32_t context_max = 0;
  std::optional<std::string> chat_template;  // the one in use, as Jinja source
};

std::string TokenizerInfoJson(const TokenizerInfo& info);

}  // namespace samebit::openai
