// response_format: in which form an answer must be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "openai/field_reader.h"

namespace samebit::openai {

struct ResponseFormat {
  enum class Kind { kText, kJsonObject, kJsonSchema };
  Kind kind = Kind::kText;
  std::string schema_json;       // kJsonSchema: JSON text, members in the client's order
  std::string canonical_json;    // for the fingerprint: of all of it, the schema as text; "" where it asks for nothing
  std::optional<uint32_t> retries;  // samebit_retries: answers are validated, and made anew so often
};

// Where a schema's place in errors begins.
inline constexpr const char* kSchemaPath = "response_format.json_schema.schema";

void ReadResponseFormat(FieldReader& fields, ResponseFormat& out);

}  // namespace samebit::openai
