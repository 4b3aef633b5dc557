#include <bit>

#include "contract/fingerprint.h"

namespace samebit::contract {
namespace {

// Feeds values to the hash so that no two specs give the same bytes: counts and lengths before contents.
class Feed {
 public:
  void Word(uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
    hash_.Update(bytes, sizeof bytes);
  }
  void Text(const std::string& text) {
    Word(text.size());
    hash_.Update(text);
  }
  void Texts(const std::vector<std::string>& texts) {
    Word(texts.size());
    for (const std::string& text : texts) Text(text);
  }
  void Id(const std::optional<TokenId>& id) { Word(id ? static_cast<uint64_t>(*id) : UINT64_MAX); }
  std::string Finish() { return hash_.Finish().hex(); }

 private:
  Sha256 hash_;
};

}  // namespace

std::string TokenizerSha256(const TokenizerSpec& spec) {
  Feed feed;
  feed.Text(spec.tokenizer_json);
  feed.Text(spec.gguf_model);
  feed.Text(spec.gguf_pre);
  feed.Texts(spec.pieces);
  feed.Word(spec.scores.size());
  for (const float score : spec.scores) feed.Word(std::bit_cast<uint32_t>(score));
  feed.Word(spec.kinds.size());
  for (const TokenKind kind : spec.kinds) feed.Word(static_cast<uint64_t>(kind));
  feed.Texts(spec.merges);
  feed.Word(spec.add_space_prefix);
  feed.Word(spec.vocabulary);
  feed.Word(spec.add_bos);
  feed.Word(spec.add_eos);
  for (const auto& id : {spec.bos, spec.eos, spec.unk, spec.pad}) feed.Id(id);
  feed.Word(spec.stop_ids.size());
  for (const TokenId id : spec.stop_ids) feed.Id(id);
  return feed.Finish();
}

}  // namespace samebit::contract
