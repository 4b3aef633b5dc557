#include "model/gguf_tokenizer.h"

#include <optional>

#include "base/limits.h"
#include "model/describe.h"
#include "model/gguf_fields.h"
#include "model/stop_pieces.h"

namespace samebit::model {
namespace {

Error WrongLength(const Fields& fields, const char* key, size_t expected, size_t found) {
  return fields.Complain(ErrorCode::kMalformed, key, std::to_string(expected) + " elements, one per token",
                         std::to_string(found));
}

Result<std::vector<TokenKind>> ReadKinds(const GgufFile& file, const Fields& fields, size_t count) {
  constexpr const char* kKey = "tokenizer.ggml.token_type";
  std::vector<TokenKind> kinds;
  if (!fields.Has(kKey)) return kinds;
  ASSIGN_OR_RETURN(const std::vector<int32_t> numbers, file.Integers(kKey, limits::kVocabularyMax));
  if (numbers.size() != count) return WrongLength(fields, kKey, count, numbers.size());
  kinds.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] < 1 || numbers[i] > 6) {
      return fields.Complain(ErrorCode::kMalformed, kKey, "token kinds from 1 to 6",
                             std::to_string(numbers[i]) + " at " + std::to_string(i));
    }
    kinds.push_back(static_cast<TokenKind>(numbers[i]));
  }
  return kinds;
}

Status ReadId(const Fields& fields, const char* key, uint32_t vocabulary, std::optional<TokenId>* id) {
  if (!fields.Has(key)) return {};
  ASSIGN_OR_RETURN(const uint64_t value, fields.Unsigned(key));
  if (value >= vocabulary) {
    return fields.Complain(ErrorCode::kMalformed, key, "a token id under " + std::to_string(vocabulary),
                           std::to_string(value));
  }
  *id = static_cast<TokenId>(value);
  return {};
}

Status ReadStopIds(const Fields& fields, TokenizerSpec* spec) {
  if (spec->eos) spec->stop_ids.push_back(*spec->eos);
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    std::optional<TokenId> id;
    RETURN_IF_ERROR(ReadId(fields, key, spec->vocabulary, &id));
    if (id) spec->stop_ids.push_back(*id);
  }
  for (size_t i = 0; i < spec->kinds.size(); ++i) {
    if (spec->kinds[i] == TokenKind::kControl && IsStopPiece(spec->pieces[i])) {
      spec->stop_ids.push_back(static_cast<TokenId>(i));
    }
  }
  SortStopIds(&spec->stop_ids);
  return {};
}

}  // namespace

Result<TokenizerSpec> ReadGgufTokenizer(const GgufFile& file, uint32_t vocabulary) {
  const GgufFields fields(file);
  TokenizerSpec spec;
  spec.vocabulary = vocabulary;
  ASSIGN_OR_RETURN(spec.gguf_model, fields.Text("tokenizer.ggml.model"));
  ASSIGN_OR_RETURN(spec.gguf_pre, fields.TextOr("tokenizer.ggml.pre", "default"));
  ASSIGN_OR_RETURN(spec.pieces, file.Strings("tokenizer.ggml.tokens", limits::kVocabularyMax));
  if (spec.pieces.size() > vocabulary) {
    return fields.Complain(ErrorCode::kMalformed, "tokenizer.ggml.tokens",
                           "at most " + std::to_string(vocabulary) + " pieces, the rows of the embedding",
                           std::to_string(spec.pieces.size()));
  }
  if (fields.Has("tokenizer.ggml.scores")) {
    ASSIGN_OR_RETURN(spec.scores, file.Floats("tokenizer.ggml.scores", limits::kVocabularyMax));
    if (spec.scores.size() != spec.pieces.size()) {
      return WrongLength(fields, "tokenizer.ggml.scores", spec.pieces.size(), spec.scores.size());
    }
  }
  ASSIGN_OR_RETURN(spec.kinds, ReadKinds(file, fields, spec.pieces.size()));
  if (fields.Has("tokenizer.ggml.merges")) {
    ASSIGN_OR_RETURN(spec.merges, file.Strings("tokenizer.ggml.merges", limits::kGgufArrayCountMax));
  }
  RETURN_IF_ERROR(ReadId(fields, "tokenizer.ggml.bos_token_id", vocabulary, &spec.bos));
  RETURN_IF_ERROR(ReadId(fields, "tokenizer.ggml.eos_token_id", vocabulary, &spec.eos));
  RETURN_IF_ERROR(ReadId(fields, "tokenizer.ggml.unknown_token_id", vocabulary, &spec.unk));
  RETURN_IF_ERROR(ReadId(fields, "tokenizer.ggml.padding_token_id", vocabulary, &spec.pad));
  RETURN_IF_ERROR(ReadStopIds(fields, &spec));

  // Where the file is silent: SentencePiece models and Llama 3 begin with bos, byte-level ones do not.
  const bool bos_by_kind = spec.gguf_model == "llama" || spec.gguf_pre == "llama-bpe";
  ASSIGN_OR_RETURN(spec.add_bos, fields.BooleanOr("tokenizer.ggml.add_bos_token", bos_by_kind));
  ASSIGN_OR_RETURN(spec.add_eos, fields.BooleanOr("tokenizer.ggml.add_eos_token", false));
  ASSIGN_OR_RETURN(spec.add_space_prefix, fields.BooleanOr("tokenizer.ggml.add_space_prefix", true));
  if ((spec.add_bos && !spec.bos) || (spec.add_eos && !spec.eos)) {
    return fields.Complain(ErrorCode::kMalformed, spec.add_bos && !spec.bos ? "tokenizer.ggml.bos_token_id"
                                                                            : "tokenizer.ggml.eos_token_id",
                           "an id, because every prompt gets this token", "nothing");
  }
  if (fields.Has("tokenizer.chat_template")) {
    ASSIGN_OR_RETURN(spec.chat_template, fields.Text("tokenizer.chat_template"));
    if (spec.chat_template->size() > limits::kTemplateBytesMax) {
      return fields.Complain(ErrorCode::kTooLarge, "tokenizer.chat_template",
                             "at most " + std::to_string(limits::kTemplateBytesMax) + " bytes",
                             std::to_string(spec.chat_template->size()));
    }
  }
  return spec;
}

}  // namespace samebit::model
