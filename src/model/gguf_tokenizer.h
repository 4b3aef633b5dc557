// tokenizer.ggml.* metadata -> TokenizerSpec.
#pragma once

#include "base/result.h"
#include "base/tokenizer_spec.h"
#include "model/gguf_reader.h"

namespace samebit::model {

// vocabulary: rows of the embedding. Failures: kMalformed (arrays of different lengths, an id outside the vocabulary,
// an unknown token kind, more pieces than rows), kTooLarge.
Result<TokenizerSpec> ReadGgufTokenizer(const GgufFile& file, uint32_t vocabulary);

}  // namespace samebit::model
