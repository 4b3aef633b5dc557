// A flat YAML map in, names and texts out; everything else is refused with its line.
#include "cli/config_file.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace samebit::cli {
namespace {

std::string Refusal(const std::string& text) {
  const auto settings = ParseConfigFile(text, "file");
  return settings.ok() ? "" : settings.error().message;
}

TEST(ConfigFile, takes_every_value_as_its_text) {
  const auto settings = ParseConfigFile(
      "# a comment\n"
      "port: 8080\n"
      "host: \"127.0.0.1\"\n"
      "name: no\n"
      "octal: 0o17\n"
      "empty: ''\n"
      "list: [a, 'b c']\n"
      "more:\n  - x\n",
      "file");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  ASSERT_EQ(settings->size(), 7u);
  const auto text = [&](size_t i) { return (*settings)[i].values.at(0); };
  EXPECT_EQ((*settings)[0].name, "port");
  EXPECT_EQ((*settings)[0].line, 2u);
  EXPECT_EQ(text(0), "8080");
  EXPECT_EQ(text(1), "127.0.0.1");
  EXPECT_EQ(text(2), "no");
  EXPECT_EQ(text(3), "0o17");
  EXPECT_EQ(text(4), "");
  EXPECT_EQ((*settings)[5].values, (std::vector<std::string>{"a", "b c"}));
  EXPECT_TRUE((*settings)[5].is_list);
  EXPECT_EQ((*settings)[6].values, std::vector<std::string>{"x"});
  EXPECT_FALSE((*settings)[4].is_list);
}

TEST(ConfigFile, takes_a_file_without_settings) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "{}"}) {
    const auto settings = ParseConfigFile(text, "file");
    ASSERT_TRUE(settings.ok()) << text << settings.error().message;
    EXPECT_TRUE(settings->empty());
  }
}

TEST(ConfigFile, says_the_line_of_what_is_no_flat_map) {
  EXPECT_EQ(Refusal("a: 1\nb:\n  c: 1\n"), "file:3: 'b': expected a value, found a map; settings are not nested");
  EXPECT_EQ(Refusal("a: 1\na: 2\n"), "file:2: 'a' stands in line 1 already");
  EXPECT_NE(Refusal("a: 1\nb:\n").find(":2: 'b': expected a value, found nothing"), std::string::npos);
  EXPECT_NE(Refusal("- a\n").find(":1: expected `name: value`, found a list"), std::string::npos);
  EXPECT_NE(Refusal("hello\n").find(":1: expected `name: value`"), std::string::npos);
  EXPECT_NE(Refusal("a: [[1]]\n").find("expected a text, found a list"), std::string::npos);
  EXPECT_NE(Refusal("a: [{b: 1}]\n").find("expected a text, found a map"), std::string::npos);
  EXPECT_NE(Refusal("[a]: 1\n").find("a name must be a text"), std::string::npos);
  EXPECT_NE(Refusal("a: 1\n---\na: 2\n").find("more than one document"), std::string::npos);
  EXPECT_NE(Refusal("a: \"open").find("file:1"), std::string::npos);
  EXPECT_NE(Refusal("a: 1\n\tb: 2\n").find("file:2"), std::string::npos);
}

TEST(ConfigFile, refuses_what_could_repeat_itself) {
  EXPECT_NE(Refusal("a: &x 1\nb: *x\n").find(":1: anchors"), std::string::npos);
  EXPECT_NE(Refusal("a: [&x [1]]\n").find("anchors"), std::string::npos);
  EXPECT_NE(Refusal("b: *x\n"), "");
  EXPECT_NE(Refusal("a: !!int 5\n").find("tags"), std::string::npos);
  EXPECT_NE(Refusal("a: !lambda x\n").find("tags"), std::string::npos);
  std::string bomb = "a: &a [x,x]\n";
  for (char c = 'b'; c < 'z'; ++c)
    bomb += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + "]\n";
  EXPECT_NE(Refusal(bomb).find(":1: anchors"), std::string::npos);
}

TEST(ConfigFile, refuses_other_bytes_great_depth_and_great_size) {
  EXPECT_NE(Refusal("a: \xff\n").find("UTF-8"), std::string::npos);
  EXPECT_NE(Refusal(std::string("a: b\0c\n", 7)).find("NUL"), std::string::npos);
  for (const char* open : {"[", "{", "- ", "? "}) {
    std::string deep;
    while (deep.size() < limits::kConfigFileBytesMax - 8) deep += open;
    EXPECT_NE(Refusal(deep), "") << open;
    EXPECT_NE(Refusal("a: " + deep), "") << open;
  }
  const auto large = ParseConfigFile(std::string(limits::kConfigFileBytesMax + 1, ' '), "file");
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
}

TEST(ConfigFile, ends_for_every_cut_and_every_changed_byte) {
  const std::string text = "port: 80\nlist: [a, 'b', \"c\\n\"]\nmore:\n  - |\n    x\n  - >-\n    y\n? k\n: v\n# end\n";
  size_t refused = 0;
  for (size_t cut = 0; cut <= text.size(); ++cut) refused += Refusal(text.substr(0, cut)).empty() ? 0 : 1;
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'\0', '\t', '\n', ' ', '!', '"', '&', '*', ':', '[', '{', '}', ']', '|', '?', '\x7f', '\xc3'}) {
      std::string changed = text;
      changed[i] = c;
      refused += Refusal(changed).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, text.size());
}

}  // namespace
}  // namespace samebit::cli
