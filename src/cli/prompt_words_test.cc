// Finding words: whole ones, in their sentence, unless they are taken back.
#include "cli/prompt_words.h"

#include <gtest/gtest.h>

namespace samebit::cli {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

TEST(FindPhrase, finds_whole_words_only) {
  EXPECT_EQ(FindPhrase("say it today.", "today"), 7u);
  EXPECT_EQ(FindPhrase("today", "today"), 0u);
  EXPECT_EQ(FindPhrase("todays and to day and usatoday", "today"), kNowhere);
  EXPECT_EQ(FindPhrase("usatoday today", "today"), 9u);
  EXPECT_EQ(FindPhrase("caf\xC3\xA9json json", "json"), 10u) << "a letter of another alphabet is one too";
  EXPECT_EQ(FindPhrase("", "x"), kNowhere);
}

TEST(SentencesOf, cuts_at_marks_and_line_ends_and_knows_where_each_began) {
  const auto sentences = SentencesOf("One. TWO 1.5 x\nthree");
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_EQ(sentences[0].text, "one");
  EXPECT_EQ(sentences[1].text, " two 1.5 x");
  EXPECT_EQ(sentences[1].at, 4u);
  EXPECT_EQ(sentences[2].text, "three");
}

TEST(IsNegated, looks_three_words_back) {
  const auto negated = [](const std::string& text) { return IsNegated(text, FindPhrase(text, "json")); };
  EXPECT_TRUE(negated("do not answer in json"));
  EXPECT_TRUE(negated("yaml rather than json"));
  EXPECT_TRUE(negated("don't use json"));
  EXPECT_TRUE(negated("not json"));
  EXPECT_FALSE(negated("answer in json"));
  EXPECT_FALSE(negated("not long, but in good json"));
  EXPECT_FALSE(negated("json"));
}

TEST(LineAround, gives_the_line_without_spaces_around_it) {
  const std::string text = "first\n  second line \nthird";
  EXPECT_EQ(LineAround(text, 0), "first");
  EXPECT_EQ(LineAround(text, text.find("line")), "second line");
  EXPECT_EQ(LineAround(text, text.size() - 1), "third");
  EXPECT_EQ(LineAround("x", 0), "x");
}

}  // namespace
}  // namespace samebit::cli
