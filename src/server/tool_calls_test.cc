#include "server/tool_calls.h"

#include <gtest/gtest.h>

#include <set>

namespace samebit::server {
namespace {

constexpr const char* kCall = "Hm. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";

TEST(AnswerReader, gives_the_same_calls_whole_and_in_pieces) {
  const ToolPlan plan = {&text::HermesSyntax(), CallIdSeed("semantic", {1, 2, 3})};
  AnswerReader whole(plan, 0);
  const AnswerReader::Piece all = whole.Push(kCall);
  EXPECT_EQ(all.content, "Hm.");
  ASSERT_EQ(all.calls.size(), 1u);
  EXPECT_EQ(all.calls[0].name, "f");
  EXPECT_EQ(all.calls[0].arguments, "{\"a\": 1}");
  AnswerReader streamed(plan, 0);
  std::string content, arguments, id;
  const auto add = [&](const AnswerReader::Piece& piece) {
    content += piece.content;
    for (const openai::ToolCallDelta& call : piece.calls) {
      EXPECT_EQ(call.index, 0u);
      id += call.id;
      arguments += call.arguments;
    }
  };
  for (const char c : std::string(kCall)) add(streamed.Push(std::string_view(&c, 1)));
  add(streamed.Finish());
  EXPECT_EQ(content, all.content);
  EXPECT_EQ(arguments, all.calls[0].arguments);
  EXPECT_EQ(id, all.calls[0].id);
  EXPECT_TRUE(streamed.called());
}

TEST(AnswerReader, without_a_syntax_all_is_content) {
  AnswerReader reader({}, 0);
  EXPECT_EQ(reader.Push(kCall).content, kCall);
  EXPECT_FALSE(reader.called());
}

TEST(CallIds, are_equal_for_equal_requests_and_differ_by_prompt_choice_and_call) {
  std::set<std::string> ids;
  for (const std::vector<TokenId>& prompt : {std::vector<TokenId>{1, 2}, {1, 3}}) {
    for (uint32_t choice = 0; choice < 3; ++choice) {
      AnswerReader reader({&text::HermesSyntax(), CallIdSeed("semantic", prompt)}, choice);
      for (const openai::ToolCallDelta& call : reader.Push(std::string(kCall) + kCall).calls) {
        EXPECT_EQ(call.id.size(), 29u);
        EXPECT_TRUE(call.id.starts_with("call_"));
        ids.insert(call.id);
      }
    }
  }
  EXPECT_EQ(ids.size(), 12u);
}

}  // namespace
}  // namespace samebit::server
