// The files that sentence-transformers puts beside a model: how a text's rows become its vector, and the longest text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace samebit::model {

// Reads modules.json and what it names, where the folder has it: sets pooling, normalized_vectors and, by
// max_seq_length, a smaller context. A plain checkpoint has none of these files and says nothing.
// folder ends in "/". names: the files read are added, relative to the folder.
// Failures: kMalformed, kTooLarge, kUnsupported (a step other than Transformer, Pooling and Normalize, in this order; a
// pooling other than mean, first and last token; a prompt that the checkpoint puts before every text; lower-casing
// before the tokenizer).
Status ReadSentenceFiles(const std::string& folder, ModelConfig* config, std::vector<std::string>* names);

}  // namespace samebit::model
