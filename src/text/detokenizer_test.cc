// Streamed text equals text decoded at once, wherever the bytes are cut.
#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer_test_specs.h"

namespace samebit::text {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

// Token i stands for pieces[i].
class FixedTokenizer : public Tokenizer {
 public:
  explicit FixedTokenizer(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  Result<std::vector<TokenId>> Encode(std::string_view, Specials) const override {
    return Error{ErrorCode::kUnsupported, "not for this test"};
  }
  std::string_view Bytes(TokenId id) const override { return pieces_[id]; }
  std::string_view Piece(TokenId id) const override { return pieces_[id]; }
  bool IsControl(TokenId) const override { return false; }
  uint32_t vocabulary() const override { return static_cast<uint32_t>(pieces_.size()); }

 private:
  std::vector<std::string> pieces_;
};

std::string Stream(std::vector<std::string> pieces) {
  const FixedTokenizer tokenizer(std::move(pieces));
  Detokenizer detokenizer(tokenizer);
  std::string text;
  for (uint32_t id = 0; id < tokenizer.vocabulary(); ++id) text += detokenizer.Push(static_cast<TokenId>(id));
  return text + detokenizer.Finish();
}

TEST(Detokenizer, whole_text_comes_back_from_every_cut_into_three) {
  for (const std::string& text : NastyTexts()) {
    if (text.size() > 100) continue;
    for (size_t first = 0; first <= text.size(); ++first) {
      for (size_t second = first; second <= text.size(); ++second) {
        EXPECT_EQ(Stream({text.substr(0, first), text.substr(first, second - first), text.substr(second)}), text);
      }
    }
  }
}

TEST(Detokenizer, gives_a_character_with_its_last_byte_and_not_before) {
  const FixedTokenizer tokenizer({"\xF0", "\x9F", "\x99", "\x82", "!"});
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.Push(0), "");
  EXPECT_EQ(detokenizer.Push(1), "");
  EXPECT_EQ(detokenizer.Push(2), "");
  EXPECT_EQ(detokenizer.Push(3), "\xF0\x9F\x99\x82");
  EXPECT_EQ(detokenizer.Push(4), "!");
  EXPECT_EQ(detokenizer.Finish(), "");
}

// The examples of the Unicode standard, section 3.9, and of the WHATWG decoder: one U+FFFD for each maximal subpart.
TEST(Detokenizer, replaces_each_maximal_invalid_subsequence_once) {
  const std::string r = kReplacement;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", r + r + r + r + r + r + r + r + "A"},  // overlong forms
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", r + r + r + r + r + r + r + r + "A"},  // surrogates
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", r + r + r + r + r + "A" + r + r + "B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", r + r + r + r + "A"},  // cut characters
      {"\xF0\x9F\x99", r},
      {"a\xE4\xBD", "a" + r},
      {"\x80", r},
      {"\xF5\x80", r + r},
      {"\xE4\xBD\xE4\xBD\xA0", r + "\xE4\xBD\xA0"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(Stream({bytes}), text);
    std::vector<std::string> single;
    for (char byte : bytes) single.emplace_back(1, byte);
    EXPECT_EQ(Stream(single), text) << "byte by byte";
  }
}

TEST(Detokenizer, every_sequence_of_four_telling_bytes_decodes_the_same_streamed_and_at_once) {
  const std::string telling("\x41\x7F\x80\x8F\x90\x9F\xA0\xBF\xC1\xC2\xE0\xED\xEF\xF0\xF4\xF5", 16);
  for (int i = 0; i < 16 * 16 * 16 * 16; ++i) {
    const std::string bytes = {telling[i & 15], telling[i >> 4 & 15], telling[i >> 8 & 15], telling[i >> 12]};
    const std::string at_once = Stream({bytes});
    ASSERT_EQ(Stream({bytes.substr(0, 1), bytes.substr(1, 1), bytes.substr(2, 1), bytes.substr(3)}), at_once);
    ASSERT_EQ(Stream({bytes.substr(0, 2), "", bytes.substr(2)}), at_once);
    // Decoded again it is unchanged: the result is UTF-8.
    ASSERT_EQ(Stream({at_once}), at_once);
  }
}

TEST(Detokenizer, can_stream_again_after_finish) {
  const FixedTokenizer tokenizer({"\xE4", "a"});
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.Push(0), "");
  EXPECT_EQ(detokenizer.Finish(), kReplacement);
  EXPECT_EQ(detokenizer.Push(1), "a");
  EXPECT_EQ(detokenizer.Finish(), "");
}

}  // namespace
}  // namespace samebit::text
