// Tools, choices, calls and results in messages; forms of answers.
#include "openai/tool_request.h"

#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "openai/chat_request.h"

namespace samebit::openai {
namespace {

using Choice = ToolRequest::Choice;

constexpr const char* kTools =
    R"("tools":[{"type":"function","function":{"name":"add","parameters":{"type":"object"},"strict":true}},)"
    R"({"type":"function","function":{"name":"now","description":"the time"}}])";

constexpr const char* kUser = R"([{"role":"user","content":"x"}])";

std::variant<ChatRequest, ApiError> Parse(const std::string& fields, const std::string& messages) {
  const auto body = ReadJson("{\"messages\":" + messages + (fields.empty() ? "" : ",") + fields + "}", "body");
  EXPECT_TRUE(body.ok()) << body.error().message;
  ParseRules rules;
  rules.vocabulary = 100;
  return ParseChatRequest(*body, rules);
}

ChatRequest Good(const std::string& fields, const std::string& messages = kUser) {
  auto parsed = Parse(fields, messages);
  const auto* error = std::get_if<ApiError>(&parsed);
  EXPECT_EQ(error, nullptr) << fields << messages << (error ? error->message : "");
  return error ? ChatRequest() : std::get<ChatRequest>(parsed);
}

std::string BadParam(const std::string& fields, const std::string& messages = kUser) {
  auto parsed = Parse(fields, messages);
  const auto* error = std::get_if<ApiError>(&parsed);
  EXPECT_NE(error, nullptr) << fields << messages;
  return error ? error->param : "";
}

TEST(ToolRequest, reads_tools_and_choices) {
  const ToolRequest tools = Good(kTools).tools;
  ASSERT_EQ(tools.tools.size(), 2u);
  EXPECT_EQ(tools.tools[0].name, "add");
  EXPECT_TRUE(tools.tools[0].strict);
  EXPECT_EQ(tools.tools[1].parameters_json, R"({"type":"object"})");
  EXPECT_EQ(tools.choice, Choice::kAuto);
  EXPECT_TRUE(tools.several);
  EXPECT_EQ(Good("").tools.choice, Choice::kNone);
  const std::string with = std::string(kTools) + ",";
  EXPECT_EQ(Good(with + R"("tool_choice":"none")").tools.choice, Choice::kNone);
  EXPECT_EQ(Good(with + R"("tool_choice":"required","parallel_tool_calls":false)").tools.choice, Choice::kRequired);
  const ToolRequest named = Good(with + R"("tool_choice":{"type":"function","function":{"name":"now"}})").tools;
  EXPECT_EQ(named.choice, Choice::kNamed);
  EXPECT_EQ(named.named, "now");
  EXPECT_NE(named.canonical_json, tools.canonical_json);
}

TEST(ToolRequest, a_wrong_one_is_refused_by_name) {
  EXPECT_EQ(BadParam(R"("tools":[{"type":"web","function":{"name":"a"}}])"), "tools[0].type");
  EXPECT_EQ(BadParam(R"("tools":[{"type":"function","function":{"name":"a b"}}])"), "tools[0].function.name");
  EXPECT_EQ(BadParam(R"("tools":[{"type":"function","function":{"name":"a","colour":1}}])"), "tools[0].function.colour");
  EXPECT_EQ(BadParam(R"("tools":[{"type":"function","function":{"name":"a"}},)"
                     R"({"type":"function","function":{"name":"a"}}])"),
            "tools[1].function.name");
  EXPECT_EQ(BadParam(R"("tool_choice":"required")"), "tool_choice");
  EXPECT_EQ(BadParam(std::string(kTools) + R"(,"tool_choice":"often")"), "tool_choice");
  EXPECT_EQ(BadParam(std::string(kTools) + R"(,"tool_choice":{"type":"function","function":{"name":"sub"}})"),
            "tool_choice.function.name");
  EXPECT_EQ(BadParam(std::string(kTools) + R"(,"response_format":{"type":"json_object"})"), "response_format");
}

TEST(ToolMessages, calls_and_results_reach_the_template) {
  const ChatRequest request = Good("", R"([{"role":"user","content":"x"},
      {"role":"assistant","content":null,"tool_calls":[
         {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"2"}])");
  ASSERT_EQ(request.messages.size(), 3u);
  EXPECT_TRUE(request.messages[1].has_calls);
  EXPECT_EQ(request.messages[1].extra_json,
            R"({"tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":{"a":1}}}],"content":null})");
  EXPECT_EQ(request.messages[2].extra_json, R"({"tool_call_id":"c1"})");
  EXPECT_EQ(request.messages[2].content, "2");
  EXPECT_EQ(BadParam("", R"([{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{"}}]}])"),
            "messages[0].tool_calls[0].function.arguments");
  EXPECT_EQ(BadParam("", R"([{"role":"user","content":"x","tool_calls":[{}]}])"), "messages[0].tool_calls");
  EXPECT_EQ(BadParam("", R"([{"role":"assistant"}])"), "messages[0].content");
}

TEST(ResponseFormat, is_read_and_refused_by_name) {
  const ResponseFormat format =
      Good(R"("response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"b":1,"a":2}},)"
           R"("samebit_retries":2},"temperature":1)")
          .common.response_format;
  EXPECT_EQ(format.kind, ResponseFormat::Kind::kJsonSchema);
  EXPECT_EQ(format.schema_json, R"({"b":1,"a":2})");
  EXPECT_EQ(format.retries, 2u);
  EXPECT_NE(format.canonical_json.find(R"("schema":"{\"b\":1,\"a\":2}")"), std::string::npos) << format.canonical_json;
  EXPECT_EQ(Good(R"("response_format":{"type":"text"})").common.response_format.canonical_json, "");
  EXPECT_EQ(BadParam(R"("response_format":{"type":"text","x":1})"), "response_format.x");
  EXPECT_EQ(BadParam(R"("response_format":{"type":"xml"})"), "response_format.type");
  EXPECT_EQ(BadParam(R"("response_format":{"type":"json_schema","json_schema":{"name":"a","schema":[]}})"),
            "response_format.json_schema.schema");
}

}  // namespace
}  // namespace samebit::openai
