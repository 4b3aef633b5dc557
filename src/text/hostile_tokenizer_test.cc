// Tokenizers from lying or hostile files: a clear error, never a crash.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/limits.h"
#include "text/tokenizer.h"
#include "text/tokenizer_test_specs.h"

namespace samebit::text {
namespace {

struct Case {
  const char* name;
  std::function<void(TokenizerSpec*)> damage;
  ErrorCode code;
  const char* says;  // a part of the message
};

void ExpectRefused(const TokenizerSpec& good, const std::vector<Case>& cases) {
  ASSERT_TRUE(MakeTokenizer(good).ok());
  for (const Case& c : cases) {
    TokenizerSpec spec = good;
    c.damage(&spec);
    auto tokenizer = MakeTokenizer(spec);
    ASSERT_FALSE(tokenizer.ok()) << c.name;
    EXPECT_EQ(tokenizer.error().code, c.code) << c.name << ": " << tokenizer.error().message;
    EXPECT_NE(tokenizer.error().message.find(c.says), std::string::npos) << c.name << ": " << tokenizer.error().message;
  }
}

TEST(HostileTokenizer, refuses_damaged_byte_level_files) {
  ExpectRefused(
      ByteLevelSpec("smollm", {"h e", "l l"}),
      {
          {"empty", [](auto* s) { s->pieces.clear(), s->kinds.clear(); }, ErrorCode::kMalformed, "empty"},
          {"no vocabulary", [](auto* s) { s->vocabulary = 0; }, ErrorCode::kMalformed, "empty vocabulary"},
          {"vast vocabulary", [](auto* s) { s->vocabulary = UINT32_MAX; }, ErrorCode::kTooLarge, "at most"},
          {"few rows", [](auto* s) { s->vocabulary -= 1; }, ErrorCode::kMalformed, "257 rows"},
          {"duplicate", [](auto* s) { s->pieces[100] = s->pieces[50]; }, ErrorCode::kMalformed, "again at 100"},
          {"not UTF-8", [](auto* s) { s->pieces[7] = "\xFF"; }, ErrorCode::kMalformed, "tokens[7] is not UTF-8"},
          {"cut UTF-8", [](auto* s) { s->pieces[7] = "\xE2\x96"; }, ErrorCode::kMalformed, "tokens[7] is not UTF-8"},
          {"kinds short", [](auto* s) { s->kinds.pop_back(); }, ErrorCode::kMalformed, "257 entries"},
          {"kind 9", [](auto* s) { s->kinds[3] = TokenKind{9}; }, ErrorCode::kMalformed, "kind 9"},
          {"kind -1", [](auto* s) { s->kinds[3] = TokenKind{-1}; }, ErrorCode::kMalformed, "kind -1"},
          {"merge of unknown", [](auto* s) { s->merges[1] = "zz l"; }, ErrorCode::kMalformed, "\"zz\""},
          {"merge into unknown", [](auto* s) { s->merges[1] = "x y"; }, ErrorCode::kMalformed, "\"xy\""},
          {"merge without space", [](auto* s) { s->merges[0] = "he"; }, ErrorCode::kMalformed, "entry 0"},
          {"merge empty", [](auto* s) { s->merges[0] = ""; }, ErrorCode::kMalformed, "entry 0"},
          {"merge of nothing", [](auto* s) { s->merges[0] = " "; }, ErrorCode::kMalformed, "entry 0"},
          {"merge not UTF-8", [](auto* s) { s->merges[0] = "\x80 e"; }, ErrorCode::kMalformed, "merges[0]"},
          {"bos outside", [](auto* s) { s->bos = 258; }, ErrorCode::kMalformed, "bos is token 258"},
          {"eos negative", [](auto* s) { s->eos = -1; }, ErrorCode::kMalformed, "eos is token -1"},
          {"stop outside", [](auto* s) { s->stop_ids = {1, 9999}; }, ErrorCode::kMalformed, "9999"},
          {"model", [](auto* s) { s->gguf_model = "t5"; }, ErrorCode::kUnsupported, "t5"},
          {"model not UTF-8", [](auto* s) { s->gguf_model = "\xC0"; }, ErrorCode::kMalformed, "tokenizer.ggml.model"},
          {"two sources", [](auto* s) { s->tokenizer_json = "{}"; }, ErrorCode::kMalformed, "two tokenizers"},
          {"vast piece", [](auto* s) { s->pieces[9] = std::string(1 << 20, 'a'); }, ErrorCode::kTooLarge, "too long"},
          {"too many merges", [](auto* s) { s->merges.resize(limits::kGgufArrayCountMax + 1); }, ErrorCode::kTooLarge,
           "merges"},
      });
}

TEST(HostileTokenizer, refuses_damaged_sentence_piece_files) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ExpectRefused(
      SentencePieceSpec(),
      {
          {"no scores", [](auto* s) { s->scores.clear(); }, ErrorCode::kMalformed, "scores is absent"},
          {"scores short", [](auto* s) { s->scores.pop_back(); }, ErrorCode::kMalformed, "scores has 261"},
          {"NaN", [nan](auto* s) { s->scores[20] = nan; }, ErrorCode::kMalformed, "token 20 is NaN"},
          {"byte without form", [](auto* s) { s->pieces[3] = "<0xZZ>"; }, ErrorCode::kMalformed, "<0xNN>"},
          {"unk outside", [](auto* s) { s->unk = 5000; }, ErrorCode::kMalformed, "unk is token 5000"},
      });
}

TEST(HostileTokenizer, infinite_scores_are_an_order_like_any_other) {
  auto spec = SentencePieceSpec();
  const float infinity = std::numeric_limits<float>::infinity();
  AddPiece(&spec, "ab", TokenKind::kNormal, -infinity);
  const TokenId bc = AddPiece(&spec, "bc", TokenKind::kNormal, infinity);
  auto tokenizer = MakeTokenizer(spec);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->Encode("abc", Specials::kParse)->back(), bc);
}

TEST(HostileTokenizer, a_long_chain_of_splits_is_built_in_bounded_work) {
  auto spec = SentencePieceSpec();
  for (size_t length = 2; length <= 1500; ++length) {
    AddPiece(&spec, std::string(length, 'a'), TokenKind::kNormal, -static_cast<float>(length));
  }
  auto tokenizer = MakeTokenizer(spec);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_FALSE((*tokenizer)->Encode(std::string(5000, 'a'), Specials::kParse)->empty());

  for (size_t length = 1501; length <= 3000; ++length) {
    AddPiece(&spec, std::string(length, 'a'), TokenKind::kNormal, -static_cast<float>(length));
  }
  auto refused = MakeTokenizer(spec);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
}

TEST(HostileTokenizer, refuses_text_that_is_not_utf8_or_too_long) {
  auto tokenizer = MakeTokenizer(ByteLevelSpec("smollm", {}));
  auto bad = (*tokenizer)->Encode("ab\xFF", Specials::kParse);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::kMalformed);
  EXPECT_NE(bad.error().message.find("byte 2"), std::string::npos);
  auto large = (*tokenizer)->Encode(std::string(limits::kPromptBytesMax + 1, 'a'), Specials::kParse);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
}

TEST(HostileTokenizer, refuses_tokenizer_json_cut_at_any_length) {
  TokenizerSpec spec;
  spec.vocabulary = 3;
  const std::string whole =
      R"({"added_tokens":[],"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)"
      R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})";
  spec.tokenizer_json = whole;
  ASSERT_TRUE(MakeTokenizer(spec).ok()) << MakeTokenizer(spec).error().message;
  for (size_t length = 1; length < whole.size(); ++length) {
    spec.tokenizer_json = whole.substr(0, length);
    auto tokenizer = MakeTokenizer(spec);
    ASSERT_FALSE(tokenizer.ok()) << length;
    EXPECT_EQ(tokenizer.error().code, ErrorCode::kMalformed) << tokenizer.error().message;
  }
}

}  // namespace
}  // namespace samebit::text
