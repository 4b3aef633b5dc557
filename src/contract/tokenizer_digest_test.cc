// Every field of a tokenizer counts in its digest, except the chat template.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "contract/fingerprint.h"

namespace samebit::contract {
namespace {

TEST(TokenizerSha256, changes_with_every_field_but_the_chat_template) {
  TokenizerSpec base;
  base.pieces = {"a", "bc"};
  base.scores = {1, 2};
  base.kinds = {TokenKind::kNormal, TokenKind::kControl};
  base.merges = {"a b"};
  base.stop_ids = {1};
  const std::vector<std::function<void(TokenizerSpec&)>> changes = {
      [](TokenizerSpec& s) { s.tokenizer_json = "{}"; },
      [](TokenizerSpec& s) { s.gguf_model = "gpt2"; },
      [](TokenizerSpec& s) { s.gguf_pre = "qwen2"; },
      [](TokenizerSpec& s) { s.pieces = {"ab", "c"}; },
      [](TokenizerSpec& s) { s.scores[1] = 2.0000002f; },
      [](TokenizerSpec& s) { s.kinds[0] = TokenKind::kByte; },
      [](TokenizerSpec& s) { s.merges.push_back("b c"); },
      [](TokenizerSpec& s) { s.add_space_prefix = false; },
      [](TokenizerSpec& s) { s.vocabulary = 3; },
      [](TokenizerSpec& s) { s.add_bos = true; },
      [](TokenizerSpec& s) { s.add_eos = true; },
      [](TokenizerSpec& s) { s.bos = 0; },
      [](TokenizerSpec& s) { s.eos = 0; },
      [](TokenizerSpec& s) { s.unk = 0; },
      [](TokenizerSpec& s) { s.pad = 0; },
      [](TokenizerSpec& s) { s.stop_ids = {0}; },
  };
  std::set<std::string> seen = {TokenizerSha256(base)};
  for (size_t i = 0; i < changes.size(); ++i) {
    TokenizerSpec changed = base;
    changes[i](changed);
    EXPECT_TRUE(seen.insert(TokenizerSha256(changed)).second) << "change " << i;
  }
  TokenizerSpec other_template = base;
  other_template.chat_template = "{{ x }}";
  EXPECT_EQ(TokenizerSha256(other_template), TokenizerSha256(base));
}

}  // namespace
}  // namespace samebit::contract
