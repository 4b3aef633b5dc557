// The form of an answer: from what a request asks to the grammar that the engine runs; and the attempts at an answer that
// only a validator can judge.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "openai/common_request.h"
#include "server/served_model.h"

namespace samebit::server {

struct AnswerForm {
  std::shared_ptr<const text::Grammar> grammar;  // null: free
  std::string sha256;                            // hex: FormDigest; "" where free
};

// Fills `form`. An error names the place in the schema.
std::optional<openai::ApiError> MakeForm(const openai::ResponseFormat& format, const ServedModel& model,
                                         AnswerForm& form);

// A grammar that was refused, to a client. path: of the schema in the request.
openai::ApiError SchemaRefused(const text::SchemaError& why, const std::string& path);

// SHA-256 over the version of the grammars, a line end and the canonical JSON of what was asked.
std::string FormDigest(const std::string& canonical_json);

// The seed of attempt k at an answer: its own for k = 0, else the first 8 bytes, little-endian, of the SHA-256 over
// "samebit-attempt/1", a zero byte, the seed as 8 bytes and k as 4, both little-endian.
uint64_t AttemptSeed(uint64_t seed, uint32_t attempt);

}  // namespace samebit::server
