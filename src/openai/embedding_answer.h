// The answer of POST /v1/embeddings as JSON text, and the words about how its vectors were made.
#pragma once

#include <string>
#include <vector>

#include "base/pooling.h"
#include "openai/answer_parts.h"

namespace samebit::openai {

// How vectors are made, each with where that came from: "request", "checkpoint" or "server".
struct VectorForm {
  Pooling pooling = Pooling::kMean;
  bool normalized = true;
  const char* pooling_source = "server";
  const char* normalized_source = "server";
};

struct EmbeddingAnswer {
  std::string model, system_fingerprint;
  std::vector<std::vector<float>> vectors;
  bool base64 = false;
  uint64_t prompt_tokens = 0;
  VectorForm form;
  Reproducibility reproducibility;  // seed, sampling and log-probabilities are not written
};
std::string EmbeddingAnswerJson(const EmbeddingAnswer& answer);

// {"pooling": {"value", "source"}, "normalized": {"value", "source"}}, without the braces.
void WriteVectorForm(JsonWriter& json, const VectorForm& form);

}  // namespace samebit::openai
