#include "server/answer_form.h"

#include "base/digest.h"

namespace samebit::server {

openai::ApiError SchemaRefused(const text::SchemaError& why, const std::string& path) {
  const std::string param = path + why.place.substr(0, 256);
  const char* code = "unsupported_schema";
  if (why.error.code == ErrorCode::kMalformed) code = "invalid_schema";
  if (why.error.code == ErrorCode::kTooLarge) code = "too_large";
  openai::ApiError error = openai::InvalidValue(param, param + ": " + why.error.message, code);
  if (why.error.code == ErrorCode::kInternal || why.error.code == ErrorCode::kCapacity) {
    error.status = 500;
    error.type = "server_error";
    error.code = ErrorCodeName(why.error.code);
  }
  return error;
}

std::optional<openai::ApiError> MakeForm(const openai::ResponseFormat& format, const ServedModel& model,
                                         AnswerForm& form) {
  if (format.kind == openai::ResponseFormat::Kind::kText) return std::nullopt;
  text::GrammarSource source;
  source.validates = format.retries.has_value();
  source.schemas.push_back(format.kind == openai::ResponseFormat::Kind::kJsonObject ? R"({"type":"object"})"
                                                                                    : format.schema_json);
  text::SchemaError why;
  form.grammar = model.grammars->Compile(source, why);
  if (form.grammar == nullptr) {
    openai::ApiError error = SchemaRefused(why, openai::kSchemaPath);
    if (why.error.code == ErrorCode::kUnsupported && !source.validates)
      error.message += "; with response_format.samebit_retries (0 to 8) what a grammar cannot enforce is validated";
    return error;
  }
  form.sha256 = FormDigest(format.canonical_json);
  return std::nullopt;
}

std::string FormDigest(const std::string& canonical_json) {
  return Sha256::Of(std::string(text::kGrammarVersion) + "\n" + canonical_json).hex();
}

uint64_t AttemptSeed(uint64_t seed, uint32_t attempt) {
  if (attempt == 0) return seed;
  std::string text = "samebit-attempt/1";
  text += '\0';
  for (int i = 0; i < 8; ++i) text += static_cast<char>(seed >> (8 * i) & 0xff);
  for (int i = 0; i < 4; ++i) text += static_cast<char>(attempt >> (8 * i) & 0xff);
  const Sha256Digest digest = Sha256::Of(text);
  uint64_t made = 0;
  for (int i = 7; i >= 0; --i) made = made << 8 | digest.bytes[static_cast<size_t>(i)];
  return made;
}

}  // namespace samebit::server
