#include "verify/prompt_set.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace samebit::verify {
namespace {

// One token per byte; id 300 is bos.
class ByteTokenizer final : public text::Tokenizer {
 public:
  Result<std::vector<TokenId>> Encode(std::string_view text, text::Specials) const override {
    std::vector<TokenId> ids;
    for (char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  std::string_view Bytes(TokenId) const override { return "x"; }
  std::string_view Piece(TokenId) const override { return "x"; }
  bool IsControl(TokenId id) const override { return id == 300; }
  uint32_t vocabulary() const override { return 301; }
};

struct Rendering {
  Rendering() {
    spec.add_bos = true;
    spec.bos = 300;
  }
  ByteTokenizer tokenizer;
  TokenizerSpec spec;
  PromptRenderer renderer{&tokenizer, nullptr, &spec};
};

TEST(PromptSet, holds_forty_different_prompts_of_five_kinds) {
  std::set<std::string> ids, texts;
  std::map<std::string, int> categories;
  for (const Prompt& prompt : BuiltInPrompts()) {
    ids.insert(prompt.id);
    texts.insert(prompt.messages.at(0).content);
    ++categories[prompt.category];
  }
  EXPECT_EQ(BuiltInPrompts().size(), 40u);
  EXPECT_EQ(ids.size(), 40u);
  EXPECT_EQ(texts.size(), 40u);
  for (const char* category : {"chat", "code", "json", "maths", "translation"})
    EXPECT_GE(categories[category], 7) << category;
  EXPECT_EQ(categories.size(), 5u);
}

TEST(PromptSet, without_a_template_a_prompt_is_its_text_after_bos) {
  const Rendering rendering;
  const auto ids = rendering.renderer.Render({"x", "chat", {{"user", "Hi"}}, 0});
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(*ids, (std::vector<TokenId>{300, 'H', 'i'}));
}

TEST(PromptSet, long_prompts_come_near_the_asked_length_and_never_over) {
  const Rendering rendering;
  for (uint32_t tokens : {200u, 333u, 1000u, 8000u}) {
    const auto prompt = MakeLongPrompt(rendering.renderer, "l", tokens);
    ASSERT_TRUE(prompt.ok()) << prompt.error().message;
    EXPECT_LE(prompt->token_count(), tokens);
    EXPECT_GT(prompt->token_count(), tokens - 6);
  }
}

TEST(PromptSet, a_long_prompt_is_the_same_twice) {
  const Rendering rendering;
  EXPECT_EQ(MakeLongPrompt(rendering.renderer, "l", 900)->ids, MakeLongPrompt(rendering.renderer, "l", 900)->ids);
}

TEST(PromptSet, refuses_a_length_without_room_for_a_record) {
  const Rendering rendering;
  const auto prompt = MakeLongPrompt(rendering.renderer, "l", 20);
  ASSERT_FALSE(prompt.ok());
  EXPECT_EQ(prompt.error().code, ErrorCode::kContextOverflow);
}

}  // namespace
}  // namespace samebit::verify
