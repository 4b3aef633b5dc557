// Which template a request gets, and what it is told when it gets none.
#include "server/prompt_templates.h"

#include <gtest/gtest.h>

namespace samebit::server {
namespace {

using contract::Tier;

PromptTemplate Sample(const std::string& name, const std::string& version) {
  PromptTemplate prompt;
  prompt.name = name;
  prompt.version = version;
  prompt.user = version + " {{ text }}";
  PromptVariable variable;
  variable.name = "text";
  variable.length_max = 5;
  prompt.variables = {variable};
  return prompt;
}

openai::PromptTemplateRequest Ask(const std::string& name, std::optional<std::string> version,
                                  PromptValues variables = {{"text", "x"}}) {
  return {name, std::move(version), std::move(variables)};
}

class Templates : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* version : {"10", "2", "1.9", "1.10"}) ASSERT_TRUE(templates_.Add(Sample("sort", version)).ok());
    ASSERT_TRUE(templates_.Add(Sample("answer", "1")).ok());
  }
  openai::ApiError Refused(const openai::PromptTemplateRequest& request, Tier tier) {
    auto rendered = RenderPrompt(&templates_, request, tier);
    if (rendered.index() == 0) ADD_FAILURE() << "was taken";
    return rendered.index() == 0 ? openai::ApiError{} : std::get<1>(rendered);
  }
  PromptTemplates templates_;
};

TEST_F(Templates, gives_the_version_that_was_asked_for) {
  auto rendered = RenderPrompt(&templates_, Ask("sort", "1.10"), Tier::kStrict);
  ASSERT_EQ(rendered.index(), 0u);
  const RenderedPrompt& prompt = std::get<0>(rendered);
  ASSERT_EQ(prompt.messages.size(), 1u);
  EXPECT_EQ(prompt.messages[0].content, "1.10 x");
  EXPECT_EQ(prompt.version, "1.10");
  EXPECT_EQ(prompt.sha256.size(), 64u);
}

TEST_F(Templates, without_a_version_the_newest_is_for_tier_0_only) {
  EXPECT_EQ(std::get<0>(RenderPrompt(&templates_, Ask("sort", {}), Tier::kStatistical)).version, "10");
  for (const Tier tier : {Tier::kRequest, Tier::kStrict}) {
    const openai::ApiError error = Refused(Ask("sort", {}), tier);
    EXPECT_EQ(error.code, "forbidden_feature");
    EXPECT_EQ(error.param, "prompt_template.version");
    EXPECT_TRUE(error.is_refusal);
  }
}

TEST_F(Templates, names_what_is_wrong_by_its_path) {
  EXPECT_EQ(Refused(Ask("sort", "3"), Tier::kStrict).param, "prompt_template.version");
  EXPECT_EQ(Refused(Ask("sort", "1.1"), Tier::kStrict).code, "prompt_template_not_found");
  EXPECT_EQ(Refused(Ask("sorted", "1"), Tier::kStrict).param, "prompt_template.name");
  EXPECT_NE(Refused(Ask("sorted", "1"), Tier::kStrict).message.find("answer@1, sort@1.9, sort@1.10, sort@2, sort@10"),
            std::string::npos);
  EXPECT_EQ(Refused(Ask("sort", "2", {}), Tier::kStrict).param, "prompt_template.variables.text");
  EXPECT_EQ(Refused(Ask("sort", "2", {{"text", "sixsix"}}), Tier::kStrict).param, "prompt_template.variables.text");
  EXPECT_EQ(Refused(Ask("sort", "2", {{"text", "x"}, {"more", true}}), Tier::kStrict).param,
            "prompt_template.variables.more");
  auto none = RenderPrompt(nullptr, Ask("sort", "2"), Tier::kStrict);
  EXPECT_EQ(std::get<1>(none).code, "unsupported_parameter");
}

TEST_F(Templates, one_name_and_version_stands_once) {
  EXPECT_EQ(templates_.Add(Sample("sort", "2")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(templates_.size(), 5u);
}

TEST(CompareVersions, goes_number_by_number) {
  EXPECT_LT(CompareVersions("1.9", "1.10"), 0);
  EXPECT_LT(CompareVersions("9", "10"), 0);
  EXPECT_LT(CompareVersions("1", "1.0"), 0);
  EXPECT_GT(CompareVersions("2", "1.99.99"), 0);
  EXPECT_EQ(CompareVersions("1.2.3", "1.2.3"), 0);
  EXPECT_GT(CompareVersions("20000000000000000000", "10000000000000000000"), 0);
}

}  // namespace
}  // namespace samebit::server
