// vocab.txt, the vocabulary file of BERT folders that have no tokenizer.json.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace samebit::model {

// The tokenizer.json that says the same: WordPiece with BERT's own normalizer, pre-tokenizer and frame ([CLS], [SEP]).
// A line is a piece, its number the id. Failures: kMalformed (not UTF-8, a piece twice, one of [UNK], [CLS], [SEP]
// missing), kTooLarge (more pieces than the vocabulary's limit).
Result<std::string> WordPieceJson(std::string_view vocabulary, bool lower_case, const std::string& where);

}  // namespace samebit::model
