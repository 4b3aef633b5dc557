// POST /v1/embeddings: the request.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "base/pooling.h"
#include "openai/completion_request.h"

namespace samebit::openai {

struct EmbeddingRequest {
  CommonRequest common;  // model, tier and pins; nothing is sampled
  std::vector<Prompt> inputs;
  bool base64 = false;  // little-endian binary32 instead of an array of numbers
  std::optional<uint32_t> dimensions;
  // Ours: how a text's rows become its vector, and whether it is brought to length 1.
  std::optional<Pooling> pooling;
  std::optional<bool> normalize;
};

std::variant<EmbeddingRequest, ApiError> ParseEmbeddingRequest(const boost::json::value& body, const ParseRules& rules);

}  // namespace samebit::openai
