#include "verify/prompt_file.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace samebit::verify {
namespace {

Error Refused(const std::string& text) {
  auto prompts = ParsePromptFile(text, "p.jsonl");
  EXPECT_FALSE(prompts.ok()) << text;
  return prompts.ok() ? Error{} : prompts.error();
}

TEST(PromptFile, reads_prompts_and_messages) {
  const auto prompts = ParsePromptFile(
      "{\"id\":\"a\",\"prompt\":\"Hi\"}\n\n"
      "{\"id\":\"b\",\"messages\":[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"U\"}],"
      "\"category\":\"code\",\"max_tokens\":64}\r\n",
      "p.jsonl");
  ASSERT_TRUE(prompts.ok()) << prompts.error().message;
  ASSERT_EQ(prompts->size(), 2u);
  EXPECT_EQ((*prompts)[0].messages[0].content, "Hi");
  EXPECT_EQ((*prompts)[0].category, "user");
  EXPECT_EQ((*prompts)[1].messages.size(), 2u);
  EXPECT_EQ((*prompts)[1].tokens_max, 64u);
}

TEST(PromptFile, names_the_line_of_what_it_refuses) {
  const std::string good = "{\"id\":\"a\",\"prompt\":\"Hi\"}\n";
  const std::vector<std::pair<std::string, ErrorCode>> bad = {
      {"{\"id\":\"b\",\"prompt\":\"Hi\",\"prompt\":\"Ho\"}", ErrorCode::kMalformed},
      {"{\"id\":\"b\",\"prompt\":\"Hi\",\"temprature\":1}", ErrorCode::kMalformed},
      {"{\"id\":\"a\",\"prompt\":\"again\"}", ErrorCode::kInvalidArgument},
      {"{\"prompt\":\"Hi\"}", ErrorCode::kMalformed},
      {"{\"id\":\"b\"}", ErrorCode::kMalformed},
      {"{\"id\":\"b\",\"prompt\":\"x\",\"messages\":[]}", ErrorCode::kMalformed},
      {"{\"id\":\"b\",\"prompt\":\"\"}", ErrorCode::kInvalidArgument},
      {"{\"id\":7,\"prompt\":\"x\"}", ErrorCode::kMalformed},
      {"{\"id\":\"b\",\"messages\":[]}", ErrorCode::kMalformed},
      {"{\"id\":\"b\",\"messages\":[{\"role\":\"foo\",\"content\":\"x\"}]}", ErrorCode::kInvalidArgument},
      {"{\"id\":\"b\",\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"name\":\"y\"}]}", ErrorCode::kMalformed},
      {"{\"id\":\"b\",\"prompt\":\"x\",\"max_tokens\":0}", ErrorCode::kInvalidArgument},
      {"{\"id\":\"b\",\"prompt\":\"x\",\"max_tokens\":1.5}", ErrorCode::kInvalidArgument},
      {"{\"id\":\"b\",\"prompt\":\"x\",\"max_tokens\":99999999}", ErrorCode::kInvalidArgument},
      {"[1]", ErrorCode::kMalformed},
      {"{\"id\":\"b\"", ErrorCode::kMalformed},
      {"{\"id\":\"" + std::string(limits::kPromptIdBytesMax + 1, 'x') + "\",\"prompt\":\"x\"}", ErrorCode::kTooLarge},
  };
  for (const auto& [line, code] : bad) {
    const Error error = Refused(good + line + "\n");
    EXPECT_EQ(error.code, code) << line << ": " << error.message;
    EXPECT_NE(error.message.find("p.jsonl: line 2: "), std::string::npos) << error.message;
  }
}

TEST(PromptFile, refuses_a_file_without_prompts) { EXPECT_EQ(Refused("\n \n").code, ErrorCode::kMalformed); }

TEST(PromptFile, a_line_cut_anywhere_is_refused) {
  const std::string line = R"({"id":"b","messages":[{"role":"user","content":"x é"}],"max_tokens":5})";
  for (size_t bytes = 1; bytes < line.size(); ++bytes) Refused(line.substr(0, bytes));
  EXPECT_TRUE(ParsePromptFile(line, "p.jsonl").ok());
}

}  // namespace
}  // namespace samebit::verify
