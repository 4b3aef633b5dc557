// Stop strings: what is shown does not depend on how the text arrives.
#include "text/stop_strings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/limits.h"

namespace samebit::text {
namespace {

struct Matched {
  std::string text;
  int stop;
  bool operator==(const Matched&) const = default;
};

Matched Match(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  auto matcher = StopStringMatcher::Make(stops);
  EXPECT_TRUE(matcher.ok());
  std::string text;
  for (const std::string& piece : pieces) text += matcher->Push(piece);
  text += matcher->Finish();
  return {text, matcher->found_index()};
}

TEST(StopStrings, cuts_before_the_stop) {
  EXPECT_EQ(Match({"END"}, {"one END two"}), (Matched{"one ", 0}));
  EXPECT_EQ(Match({"END"}, {"one E", "N", "D two", " three"}), (Matched{"one ", 0}));
  EXPECT_EQ(Match({"END"}, {"END"}), (Matched{"", 0}));
  EXPECT_EQ(Match({"END"}, {"one EN"}), (Matched{"one EN", -1}));
  EXPECT_EQ(Match({}, {"any", "thing"}), (Matched{"anything", -1}));
}

TEST(StopStrings, the_first_complete_stop_wins_and_of_equals_the_longest) {
  EXPECT_EQ(Match({"abcd", "bc"}, {"xabcd"}), (Matched{"xa", 1}));
  EXPECT_EQ(Match({"c", "abc", "bc"}, {"xabc"}), (Matched{"x", 1}));
  EXPECT_EQ(Match({"yy", "xx"}, {"axxyy"}), (Matched{"a", 1}));
}

TEST(StopStrings, a_false_start_is_given_out_as_soon_as_it_is_one) {
  auto matcher = StopStringMatcher::Make({"aab"});
  EXPECT_EQ(matcher->Push("a"), "");
  EXPECT_EQ(matcher->Push("a"), "");
  EXPECT_EQ(matcher->Push("a"), "a");
  EXPECT_EQ(matcher->Push("c"), "aac");
  EXPECT_EQ(matcher->Push("aa"), "");
  EXPECT_EQ(matcher->Push("b"), "");
  EXPECT_TRUE(matcher->found());
  EXPECT_EQ(matcher->Push("more"), "");
  EXPECT_EQ(matcher->Finish(), "");
}

// Every text of eight letters over {a, b}, every cut into two, several sets of stops; against a plain search.
TEST(StopStrings, streamed_equals_searched_and_no_prefix_of_a_stop_is_shown_early) {
  const std::vector<std::vector<std::string>> sets = {{"aab"}, {"abab", "bb"}, {"aaa", "aabaa"}, {"baab", "aa", "b"}};
  for (const auto& stops : sets) {
    for (int bits = 0; bits < 256; ++bits) {
      std::string text;
      for (int i = 0; i < 8; ++i) text += (bits >> i & 1) != 0 ? 'b' : 'a';
      Matched expected{text, -1};
      for (size_t end = 1; end <= text.size() && expected.stop < 0; ++end) {
        for (size_t s = 0; s < stops.size(); ++s) {
          const bool ends_here = text.substr(0, end).ends_with(stops[s]);
          if (ends_here && (expected.stop < 0 || stops[s].size() > stops[expected.stop].size())) {
            expected = {text.substr(0, end - stops[s].size()), static_cast<int>(s)};
          }
        }
      }
      for (size_t cut = 0; cut <= text.size(); ++cut) {
        EXPECT_EQ(Match(stops, {text.substr(0, cut), text.substr(cut)}), expected);
      }
      auto matcher = StopStringMatcher::Make(stops);
      std::string shown;
      for (char letter : text) {
        shown += matcher->Push(std::string(1, letter));
        EXPECT_TRUE(expected.text.starts_with(shown)) << text << " showed " << shown;
      }
    }
  }
}

TEST(StopStrings, never_cuts_inside_a_character) {
  auto matcher = StopStringMatcher::Make({"\xC3\xA9!"});
  EXPECT_EQ(matcher->Push("\xC3\xA8"), "\xC3\xA8");
  EXPECT_EQ(matcher->Push("x\xC3\xA9"), "x");
  EXPECT_EQ(matcher->Push("?"), "\xC3\xA9?");
}

TEST(StopStrings, refuses_what_cannot_be_a_stop) {
  const auto code = [](const std::vector<std::string>& stops) {
    auto matcher = StopStringMatcher::Make(stops);
    EXPECT_FALSE(matcher.ok());
    return matcher.ok() ? ErrorCode::kInternal : matcher.error().code;
  };
  EXPECT_EQ(code({"a", ""}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({"\xFF"}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({"\xE4\xBD"}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({std::string(limits::kStopStringBytesMax + 1, 'a')}), ErrorCode::kTooLarge);
  EXPECT_EQ(code(std::vector<std::string>(limits::kStopStringsMax + 1, "a")), ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace samebit::text
