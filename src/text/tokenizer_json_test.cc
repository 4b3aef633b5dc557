// Tokenizers from a tokenizer.json.
#include <gtest/gtest.h>

#include <algorithm>

#include "text/tokenizer.h"

namespace samebit::text {
namespace {

using Ids = std::vector<TokenId>;

Result<std::unique_ptr<Tokenizer>> FromJson(std::string json, uint32_t vocabulary) {
  TokenizerSpec spec;
  spec.tokenizer_json = std::move(json);
  spec.vocabulary = vocabulary;
  return MakeTokenizer(spec);
}

std::string ByteLevelJson(const std::string& model_extra = "", const std::string& added_id = "6") {
  return R"({"version":"1.0","truncation":{"direction":"Right","max_length":2,"strategy":"LongestFirst","stride":0},)"
         R"("padding":null,"added_tokens":[)"
         R"({"id":5,"content":"<|end|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,)"
         R"("special":true},)"
         R"({"id":)" + added_id + R"(,"content":"<tag>","single_word":false,"lstrip":false,"rstrip":false,)"
         R"("normalized":false,"special":false}],)"
         R"("normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,)"
         R"("use_regex":true},)"
         R"("post_processor":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false},)"
         R"("decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)"
         R"("model":{"type":"BPE")" + model_extra + 
         R"(,"vocab":{"a":0,"b":1,"ab":2,"\u0120":3,"\u00e3":4},"merges":["a b"]}})";
}

TEST(TokenizerJson, byte_level_pieces_and_added_tokens) {
  auto tokenizer = FromJson(ByteLevelJson(), 8);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_EQ(*(*tokenizer)->Encode("ab a<tag><|end|>", Specials::kParse), (Ids{2, 3, 0, 6, 5}));
  EXPECT_EQ((*tokenizer)->Bytes(3), " ");
  EXPECT_EQ((*tokenizer)->Bytes(4), "\xE3");
  EXPECT_EQ((*tokenizer)->Bytes(5), "");
  EXPECT_EQ((*tokenizer)->Bytes(6), "<tag>");
  EXPECT_EQ((*tokenizer)->Bytes(7), "");
  EXPECT_TRUE((*tokenizer)->IsControl(5));
  EXPECT_FALSE((*tokenizer)->IsControl(6));
}

TEST(TokenizerJson, specials_in_strangers_text_stay_text) {
  auto tokenizer = FromJson(ByteLevelJson(), 8);
  auto ids = (*tokenizer)->Encode("ab<|end|>", Specials::kAsText);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(std::count(ids->begin(), ids->end(), 5), 0);
}

TEST(TokenizerJson, truncation_in_the_file_does_not_cut_the_text) {
  auto tokenizer = FromJson(ByteLevelJson(), 8);
  EXPECT_EQ((*tokenizer)->Encode("abababab", Specials::kParse)->size(), 4u);
}

TEST(TokenizerJson, dropout_does_not_make_the_ids_random) {
  auto tokenizer = FromJson(ByteLevelJson(R"(,"dropout":0.5)"), 8);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(*(*tokenizer)->Encode("ab", Specials::kParse), Ids{2});
}

TEST(TokenizerJson, refuses_added_tokens_whose_declared_id_is_not_their_place) {
  auto tokenizer = FromJson(ByteLevelJson("", "7"), 8);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code, ErrorCode::kMalformed);
  EXPECT_NE(tokenizer.error().message.find("declared as 7"), std::string::npos) << tokenizer.error().message;
}

TEST(TokenizerJson, a_token_beyond_the_embedding_is_refused_where_a_text_needs_it) {
  auto tokenizer = FromJson(ByteLevelJson(), 6);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_TRUE((*tokenizer)->Encode("ab", Specials::kParse).ok());
  auto ids = (*tokenizer)->Encode("<tag>", Specials::kParse);
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().code, ErrorCode::kUnsupported);
}

TEST(TokenizerJson, sentence_piece_bytes_follow_the_decoder) {
  auto tokenizer = FromJson(
      R"({"added_tokens":[],"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\u2581"},)"
      R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"\u2581"},"content":" "},)"
      R"({"type":"ByteFallback"},{"type":"Fuse"}]},)"
      R"("model":{"type":"BPE","byte_fallback":true,"vocab":{"<0xC3>":0,"<0xA9>":1,"\u2581":2,"a":3,"\u2581a":4},)"
      R"("merges":[["\u2581","a"]]}})",
      5);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_EQ(*(*tokenizer)->Encode(" a\xC3\xA9", Specials::kParse), (Ids{4, 0, 1}));
  EXPECT_EQ((*tokenizer)->Bytes(0), "\xC3");
  EXPECT_EQ((*tokenizer)->Bytes(4), " a");
}

TEST(TokenizerJson, refuses_kinds_that_this_build_lacks) {
  const std::vector<std::string> models = {
      R"({"type":"WordPiece","unk_token":"a","continuing_subword_prefix":"@@","max_input_chars_per_word":100,)"
      R"("vocab":{"a":0}})",
      R"({"type":"WordLevel","unk_token":"a","vocab":{"a":0}})",
      R"({"type":"Unigram","unk_id":0,"vocab":[["a",-1.0]],"byte_fallback":false})"};
  for (const std::string& model : models) {
    auto tokenizer = FromJson(R"({"added_tokens":[],"model":)" + model + "}", 1);
    ASSERT_FALSE(tokenizer.ok());
    EXPECT_EQ(tokenizer.error().code, ErrorCode::kUnsupported) << tokenizer.error().message;
  }
  for (const char* decoder : {R"({"type":"WordPiece","prefix":"##","cleanup":true})", "null", R"({"type":"Fuse"})"}) {
    auto tokenizer = FromJson(std::string(R"({"added_tokens":[],"decoder":)") + decoder +
                                  R"(,"model":{"type":"BPE","vocab":{"a":0},"merges":[]}})",
                              1);
    ASSERT_FALSE(tokenizer.ok()) << decoder;
    EXPECT_EQ(tokenizer.error().code, ErrorCode::kUnsupported) << tokenizer.error().message;
  }
}

TEST(TokenizerJson, refuses_two_pieces_with_one_id) {
  auto tokenizer = FromJson(
      R"({"added_tokens":[],"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)"
      R"("model":{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]}})",
      2);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code, ErrorCode::kMalformed);
  EXPECT_NE(tokenizer.error().message.find("\"a\" and \"b\""), std::string::npos);
}

constexpr const char* kWordPieces =
    R"({"added_tokens":[{"id":1,"content":"[CLS]","special":true,"single_word":false,"lstrip":false,"rstrip":false,)"
    R"("normalized":false}],"truncation":{"max_length":1,"strategy":"LongestFirst","stride":0,"direction":"Right"},)"
    R"("normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,)"
    R"("lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
    R"("model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",)"
    R"("max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"a":2,"##b":3,"[":4,"]":5,"cl":6,"##s":7}}})";

TEST(WordPiece, cuts_words_into_pieces_and_never_cuts_the_text) {
  const auto tokenizer = FromJson(kWordPieces, 8);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const auto ids = [&](const char* text, Specials specials) { return *(*tokenizer)->Encode(text, specials); };
  EXPECT_EQ(ids("A ab \u00c1bb xyz", Specials::kAsText), (std::vector<TokenId>{2, 2, 3, 2, 3, 3, 0}));
  EXPECT_EQ(ids("[CLS]", Specials::kParse), (std::vector<TokenId>{1}));
  EXPECT_EQ(ids("[CLS]", Specials::kAsText), (std::vector<TokenId>{4, 6, 7, 5}));
  EXPECT_EQ((*tokenizer)->Bytes(2), " a");
  EXPECT_EQ((*tokenizer)->Bytes(3), "b");
  EXPECT_TRUE((*tokenizer)->IsControl(1));
}

TEST(WordPiece, refuses_a_vocabulary_without_its_unknown_token) {
  std::string json = kWordPieces;
  json.replace(json.find("\"[UNK]\",\"continuing"), 7, "\"[NIX]\"");
  const auto tokenizer = FromJson(json, 8);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code, ErrorCode::kMalformed);
  EXPECT_NE(tokenizer.error().message.find("[NIX]"), std::string::npos);
}

}  // namespace
}  // namespace samebit::text
