// MakeTokenizer: checks what a stranger's file says, then lets the Rust crate build the tokenizer.
#include <algorithm>
#include <string>

#include "base/limits.h"
#include "text/rust_boundary.h"
#include "text/tokenizer.h"

namespace samebit::text {
namespace {

struct Free {
  void operator()(SamebitTokenizer* tokenizer) const { samebit_tokenizer_free(tokenizer); }
};
using Handle = std::unique_ptr<SamebitTokenizer, Free>;

class RustTokenizer : public Tokenizer {
 public:
  explicit RustTokenizer(Handle handle) : handle_(std::move(handle)), table_(samebit_tokenizer_table(handle_.get())) {}

  Result<std::vector<TokenId>> Encode(std::string_view text, Specials specials) const override {
    if (text.size() > limits::kPromptBytesMax) {
      return Error{ErrorCode::kTooLarge, "the text has " + std::to_string(text.size()) + " bytes, at most " +
                                             std::to_string(limits::kPromptBytesMax) + " are taken"};
    }
    SamebitIds ids{};
    SamebitString message{};
    const auto code =
        samebit_tokenizer_encode(handle_.get(), Slice(text), specials == Specials::kAsText ? 1 : 0, &ids, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    std::vector<TokenId> result(ids.data, ids.data + ids.size);
    samebit_text_free_ids(ids);
    return result;
  }

  std::string_view Bytes(TokenId id) const override { return Entry(table_.bytes, table_.byte_ends, id); }
  std::string_view Piece(TokenId id) const override { return Entry(table_.pieces, table_.piece_ends, id); }
  bool IsControl(TokenId id) const override { return Known(id) && table_.control[id] != 0; }
  uint32_t vocabulary() const override { return table_.count; }

 private:
  bool Known(TokenId id) const { return id >= 0 && static_cast<uint32_t>(id) < table_.count; }

  std::string_view Entry(const char* column, const uint32_t* ends, TokenId id) const {
    if (!Known(id)) return {};
    const uint32_t begin = id == 0 ? 0 : ends[id - 1];
    return {column + begin, ends[id] - begin};
  }

  Handle handle_;
  SamebitTokenTable table_;  // points into *handle_
};

Error Malformed(std::string message) { return Error{ErrorCode::kMalformed, std::move(message)}; }

Status CheckColumn(const char* name, size_t found, size_t pieces) {
  if (found == 0 || found == pieces) return {};
  return Malformed(std::string(name) + " has " + std::to_string(found) + " entries, expected one for each of the " +
                   std::to_string(pieces) + " pieces");
}

Status CheckId(const char* name, std::optional<TokenId> id, uint32_t vocabulary) {
  if (!id || (*id >= 0 && static_cast<uint32_t>(*id) < vocabulary)) return {};
  return Malformed(std::string(name) + " is token " + std::to_string(*id) + ", but the vocabulary has " +
                   std::to_string(vocabulary) + " entries");
}

Status Check(const TokenizerSpec& spec) {
  if (spec.vocabulary == 0) return Malformed("the tokenizer has an empty vocabulary");
  if (spec.vocabulary > limits::kVocabularyMax) {
    return Error{ErrorCode::kTooLarge, "the vocabulary has " + std::to_string(spec.vocabulary) +
                                           " entries, at most " + std::to_string(limits::kVocabularyMax) +
                                           " are taken"};
  }
  if (!spec.tokenizer_json.empty() && !spec.pieces.empty()) {
    return Malformed("the model brings two tokenizers: a tokenizer.json and GGUF pieces");
  }
  if (spec.tokenizer_json.size() > limits::kJsonFileBytesMax) {
    return Error{ErrorCode::kTooLarge, "tokenizer.json has " + std::to_string(spec.tokenizer_json.size()) +
                                           " bytes, at most " + std::to_string(limits::kJsonFileBytesMax) +
                                           " are taken"};
  }
  RETURN_IF_ERROR(CheckColumn("tokenizer.ggml.scores", spec.scores.size(), spec.pieces.size()));
  RETURN_IF_ERROR(CheckColumn("tokenizer.ggml.token_type", spec.kinds.size(), spec.pieces.size()));
  RETURN_IF_ERROR(CheckId("bos", spec.bos, spec.vocabulary));
  RETURN_IF_ERROR(CheckId("eos", spec.eos, spec.vocabulary));
  RETURN_IF_ERROR(CheckId("unk", spec.unk, spec.vocabulary));
  RETURN_IF_ERROR(CheckId("pad", spec.pad, spec.vocabulary));
  for (TokenId id : spec.stop_ids) RETURN_IF_ERROR(CheckId("a stop token", id, spec.vocabulary));
  if (spec.merges.size() > limits::kGgufArrayCountMax) {
    return Error{ErrorCode::kTooLarge, "tokenizer.ggml.merges has " + std::to_string(spec.merges.size()) + " entries"};
  }
  return {};
}

std::vector<SamebitSlice> Slices(const std::vector<std::string>& texts) {
  std::vector<SamebitSlice> slices(texts.size());
  std::transform(texts.begin(), texts.end(), slices.begin(), [](const std::string& text) { return Slice(text); });
  return slices;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeTokenizer(const TokenizerSpec& spec) {
  RETURN_IF_ERROR(Check(spec));
  SamebitTokenizer* made = nullptr;
  SamebitString message{};
  SamebitTextCode code;
  if (!spec.tokenizer_json.empty()) {
    code = samebit_tokenizer_from_json(Slice(spec.tokenizer_json), spec.vocabulary, &made, &message);
  } else {
    const auto pieces = Slices(spec.pieces);
    const auto merges = Slices(spec.merges);
    static_assert(sizeof(TokenKind) == sizeof(int32_t));
    std::vector<int32_t> kinds(spec.kinds.size());
    std::transform(spec.kinds.begin(), spec.kinds.end(), kinds.begin(),
                   [](TokenKind kind) { return static_cast<int32_t>(kind); });
    const SamebitGgufVocabulary vocabulary{
        .model = Slice(spec.gguf_model),
        .pre = Slice(spec.gguf_pre),
        .pieces = pieces.data(),
        .piece_count = pieces.size(),
        .scores = spec.scores.empty() ? nullptr : spec.scores.data(),
        .kinds = kinds.empty() ? nullptr : kinds.data(),
        .merges = merges.data(),
        .merge_count = merges.size(),
        .add_space_prefix = spec.add_space_prefix ? 1u : 0u,
        .unknown_id = spec.unk ? *spec.unk : -1,
        .vocabulary = spec.vocabulary,
        .piece_work_max = limits::kPieceSquaresMax,
        .merge_count_max = limits::kGgufArrayCountMax,
    };
    code = samebit_tokenizer_from_gguf(&vocabulary, &made, &message);
  }
  if (code != SAMEBIT_TEXT_OK) {
    Error error = TakeError(code, message);
    error.message = "tokenizer: " + error.message;
    return error;
  }
  return std::unique_ptr<Tokenizer>(std::make_unique<RustTokenizer>(Handle(made)));
}

}  // namespace samebit::text
