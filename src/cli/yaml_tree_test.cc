// YAML from strangers: what is read, what is refused, and that nothing crashes.
#include "cli/yaml_tree.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace samebit::cli {
namespace {

std::string Refused(const std::string& text) {
  const auto tree = ReadYaml(text, "f");
  return tree.ok() ? "taken" : tree.error().message;
}

TEST(ReadYaml, keeps_every_scalar_as_the_text_that_was_written) {
  const auto tree = ReadYaml("a: no\nb: 1.10\nc: 0x1F\nd: ''\ne:\nf: |\n  one\n  two\ng: [x, 'y z']\n", "f");
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  EXPECT_EQ(tree->Find("a")->text, "no");
  EXPECT_EQ(tree->Find("b")->text, "1.10");
  EXPECT_EQ(tree->Find("c")->text, "0x1F");
  EXPECT_EQ(tree->Find("d")->kind, YamlNode::Kind::kText);
  EXPECT_EQ(tree->Find("e")->kind, YamlNode::Kind::kNull);
  EXPECT_EQ(tree->Find("f")->text, "one\ntwo\n");
  EXPECT_EQ(tree->Find("g")->list[1].text, "y z");
  EXPECT_EQ(tree->Find("g")->line, 9u);
  EXPECT_EQ(tree->Find("h"), nullptr);
}

TEST(ReadYaml, takes_a_file_of_comments_as_nothing_and_knows_the_lines_of_names) {
  for (const char* text : {"", "# nothing\n", "---\n"}) EXPECT_EQ(ReadYaml(text, "f")->kind, YamlNode::Kind::kNull) << text;
  const auto tree = ReadYaml("a: 1\nb:\n\n  - x\n", "f");
  EXPECT_EQ(tree->Find("b")->key_line, 2u);
  EXPECT_EQ(tree->Find("b")->line, 4u);
}

TEST(ReadYaml, refuses_what_grows_or_hides) {
  EXPECT_EQ(Refused("a: &x 1\nb: *x\n"), "f:1: anchors (&name) are not taken; write each value out");
  EXPECT_EQ(Refused("a: !!python/object x\n").substr(0, 9), "f:1: tags");
  EXPECT_EQ(Refused("a: 1\na: 2\n"), "f:2: 'a' stands in line 1 already");
  EXPECT_EQ(Refused("[1]: 2\n"), "f:1: a name must be a text");
  EXPECT_EQ(Refused("a: 1\n---\nb: 2\n"), "f:1: it holds more than one document");
  EXPECT_EQ(Refused("a: \xff\n"), "f:1: it is not UTF-8");
  EXPECT_EQ(Refused("a: [1\n").substr(0, 2), "f:");
  EXPECT_NE(Refused("a: [1, 2\nb: }\n"), "taken");
}

TEST(ReadYaml, is_bounded) {
  EXPECT_EQ(Refused(std::string(17, '[') + std::string(17, ']')), "f:1: nested deeper than 16 levels");
  EXPECT_NE(Refused(std::string(100'000, '[')), "taken");
  EXPECT_NE(Refused(std::string(100'000, '{')), "taken");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "- ";
  EXPECT_EQ(Refused(deep), "f:1: nested deeper than 16 levels");
  std::string many;
  for (uint32_t i = 0; i <= limits::kYamlNodesMax; ++i) many += "- x\n";
  EXPECT_EQ(Refused(many).substr(Refused(many).find("more")), "more than 20000 values");
}

TEST(ReadYaml, survives_a_file_that_is_cut_anywhere_or_has_one_wrong_byte) {
  const std::string good = "name: a\nlist:\n  - {x: 'y', z: \"w\\n\"}\n  - |\n    text\n    more\nkey: [1, 2, {a: b}]\n# end\n";
  ASSERT_TRUE(ReadYaml(good, "f").ok());
  size_t refused = 0;
  for (size_t cut = 0; cut < good.size(); ++cut) refused += !ReadYaml(good.substr(0, cut), "f").ok();
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char c : {'\0', '\t', '&', '*', '!', '[', '{', ':', '"', '%', '@', '\x80'}) {
      std::string changed = good;
      changed[at] = c;
      refused += !ReadYaml(changed, "f").ok();
    }
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace samebit::cli
