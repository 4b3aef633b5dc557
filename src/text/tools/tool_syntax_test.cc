// Calls read from answers: the same for every cut; and the grammars that make a model call.
#include "text/tools/tool_syntax.h"

#include <gtest/gtest.h>

#include "text/grammar_test_support.h"

namespace samebit::text {
namespace {

using Kind = ToolEvent::Kind;
using Events = std::vector<ToolEvent>;

void Add(Events& all, const Events& more) {
  for (const ToolEvent& event : more) AddToolEvent(event.kind, event.text, all);
}

// In pieces that end at the cuts.
Events Parse(const ToolSyntax& syntax, const std::string& text, const std::vector<size_t>& cuts) {
  const auto parser = syntax.NewParser();
  Events all;
  size_t begin = 0;
  const auto push = [&](size_t end) {
    Events events;
    parser->Push(std::string_view(text).substr(begin, end - begin), events);
    Add(all, events);
    begin = end;
  };
  for (const size_t cut : cuts) push(cut);
  push(text.size());
  Events events;
  parser->Finish(events);
  Add(all, events);
  return all;
}

// As a whole, byte by byte, and cut at every pair of places.
void Expect(const ToolSyntax& syntax, const std::string& text, const Events& expected) {
  EXPECT_EQ(Parse(syntax, text, {}), expected) << text;
  std::vector<size_t> every;
  for (size_t i = 0; i < text.size(); ++i) every.push_back(i);
  EXPECT_EQ(Parse(syntax, text, every), expected) << text;
  for (size_t a = 0; a < text.size(); ++a)
    for (size_t b = a; b < text.size(); b += 3) ASSERT_EQ(Parse(syntax, text, {a, b}), expected) << text << a << " " << b;
}

TEST(HermesSyntax, reads_calls_and_the_text_around_them) {
  const ToolSyntax& hermes = HermesSyntax();
  Expect(hermes, "No call, <b>just</b> text < tool_call\n ", {{Kind::kText, "No call, <b>just</b> text < tool_call\n "}});
  Expect(hermes, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\\\"\"]}}\n</tool_call>",
         {{Kind::kCall, "f"}, {Kind::kArguments, "{\"a\": [1, \"}\\\"\"]}"}});
  Expect(hermes, "Let me see.\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n<tool_call>{\"arguments\":{\"x\":1},"
                 "\"id\":7,\"name\":\"g\"}</tool_call>\n",
         {{Kind::kText, "Let me see."}, {Kind::kCall, "f"}, {Kind::kArguments, "{}"}, {Kind::kCall, "g"},
          {Kind::kArguments, "{\"x\":1}"}});
  Expect(hermes, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call> and more",
         {{Kind::kCall, "f"}, {Kind::kArguments, "{}"}, {Kind::kText, " and more"}});
}

TEST(HermesSyntax, what_is_no_call_stays_text_to_the_letter) {
  for (const char* text :
       {"<tool_call>", "<tool_call> \n", "<tool_call>none</tool_call>", "<tool_call>{\"name\": 3, \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"f\"}</tool_call>", "<tool_call>{\"arguments\": {}}</tool_call>", "<tool_call>{\"name\": \"f\", ",
        "<tool_call>{\"name\": \"f\", \"arguments\": 5}", "<tool_call>[{\"name\": \"f\"}]", "<tool_call>{\"name\": \"\", \"arguments\": {}}",
        "<tool_call>{} ", "<tool_cal", "  \n ", "<tool_call>{\"na\\u006de\": \"f\", \"arguments\": {}}", "<tool_call>{\"name\" \"f\"}"})
    Expect(HermesSyntax(), text, {{Kind::kText, text}});
}

TEST(HermesSyntax, a_call_that_is_cut_off_keeps_what_it_has) {
  Expect(HermesSyntax(), "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b",
         {{Kind::kCall, "f"}, {Kind::kArguments, "{\"a\": \"b"}});
  Expect(HermesSyntax(), "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool",
         {{Kind::kCall, "f"}, {Kind::kArguments, "{\"a\": 1}"}});
}

TEST(Llama3JsonSyntax, the_whole_answer_is_calls_or_text) {
  const ToolSyntax& llama = Llama3JsonSyntax();
  Expect(llama, "{\"name\": \"f\", \"parameters\": {\"a\": \"b\"}}", {{Kind::kCall, "f"}, {Kind::kArguments, "{\"a\": \"b\"}"}});
  Expect(llama, "\n{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", \"parameters\": {}}\n",
         {{Kind::kCall, "f"}, {Kind::kArguments, "{}"}, {Kind::kCall, "g"}, {Kind::kArguments, "{}"}});
  for (const char* text : {"Hello {\"name\": \"f\", \"parameters\": {}}", "{\"a\": 1, \"b\": [true]}", "{}", "{\"name\": \"f\"", " "})
    Expect(llama, text, {{Kind::kText, text}});
}

TEST(GemmaSyntax, arguments_become_json) {
  const ToolSyntax& gemma = GemmaSyntax();
  Expect(gemma, "<start_function_call>call:f{city:<escape>S\xc3\xa3o \"x\"\n<escape>,days:3,deep:{on:true,list:[1,<escape>a<escape>]}}<end_function_call>",
         {{Kind::kCall, "f"},
          {Kind::kArguments, "{\"city\":\"S\xc3\xa3o \\\"x\\\"\\n\",\"days\":3,\"deep\":{\"on\":true,\"list\":[1,\"a\"]}}"}});
  Expect(gemma, "text <start_function_call>call:f{}<end_function_call> more",
         {{Kind::kText, "text "}, {Kind::kCall, "f"}, {Kind::kArguments, "{}"}, {Kind::kText, " more"}});
  for (const char* text : {"<start_function_call>", "<start_function_call>call:", "<start_function_call>call:f\n", "a < b"})
    Expect(gemma, text, {{Kind::kText, text}});
}

TEST(ToolSyntax, is_known_by_its_name_and_by_what_a_template_shows) {
  EXPECT_EQ(FindToolSyntax("hermes"), &HermesSyntax());
  EXPECT_EQ(FindToolSyntax("xml"), nullptr);
  EXPECT_EQ(ToolSyntaxNames(), "hermes, llama3_json, gemma");
  EXPECT_EQ(ToolSyntaxShownBy("return <tool_call>\n{\\\"name\\\": .., \\\"arguments\\\": ..}"), &HermesSyntax());
  EXPECT_EQ(ToolSyntaxShownBy("<tool_call><function=f><arguments>"), nullptr);
  EXPECT_EQ(ToolSyntaxShownBy("{\"name\": function name, \"parameters\": dictionary of argument name and its value}"),
            &Llama3JsonSyntax());
  EXPECT_EQ(ToolSyntaxShownBy("<start_function_call>"), &GemmaSyntax());
  EXPECT_EQ(ToolSyntaxShownBy("<start_function_call> <tool_call> arguments"), nullptr);
  EXPECT_TRUE(ReadToolTemplate("{% if tools %}").tells_tools);
  EXPECT_FALSE(ReadToolTemplate("{{ message['content'] }}").tells_tools);
  EXPECT_FALSE(ReadToolTemplate("{% if tools %}").tells_calls);
  EXPECT_TRUE(ReadToolTemplate("'<|im_start|>' + message['role']").tells_results);
}

std::shared_ptr<const Grammar> CallGrammar(const ToolSyntax& syntax, bool must_call, bool several) {
  SchemaError why;
  const ToolGrammar form = {{"add", "now"}, must_call, several};
  const GrammarSource source = {
      syntax.Lark(form),
      {R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false})",
       R"({"type":"object","additionalProperties":false})"},
      false};
  auto grammar = Bytes().compiler->Compile(source, why);
  EXPECT_NE(grammar, nullptr) << why.error.message << "\n" << source.lark;
  CHECK(grammar != nullptr);
  return grammar;
}

constexpr const char* kAdd = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 5}}\n</tool_call>";
constexpr const char* kNow = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";

TEST(HermesGrammar, makes_a_call_and_nothing_else) {
  const auto one = CallGrammar(HermesSyntax(), true, false);
  EXPECT_TRUE(Takes(*one, kAdd));
  EXPECT_TRUE(Takes(*one, kNow));
  EXPECT_EQ(Follow(*one, "I will"), 0u);
  EXPECT_EQ(Follow(*one, "<tool_call>\n{\"name\": \"sub"), 22u);
  EXPECT_EQ(Follow(*one, std::string(kNow) + "\n"), std::string(kNow).size());
  const auto several = CallGrammar(HermesSyntax(), true, true);
  EXPECT_TRUE(Takes(*several, std::string(kNow) + "\n" + kAdd));
}

TEST(HermesGrammar, lets_text_through_and_holds_every_call_to_its_schema) {
  const auto free = CallGrammar(HermesSyntax(), false, true);
  EXPECT_TRUE(Takes(*free, "Just text, {\"a\": 1} and <b>."));
  EXPECT_TRUE(Takes(*free, std::string("Let me see.\n") + kAdd));
  EXPECT_TRUE(Takes(*free, std::string(kAdd) + "\n" + kNow + "\nDone."));
  EXPECT_EQ(Follow(*free, "Hm <tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": \"x"), 50u);
  EXPECT_EQ(Follow(*free, "Hm <tool_call>\nno"), 15u);
  const auto one = CallGrammar(HermesSyntax(), false, false);
  EXPECT_TRUE(Takes(*one, "Just text"));
  EXPECT_TRUE(Takes(*one, std::string("Hm ") + kAdd));
  EXPECT_EQ(Follow(*one, std::string(kNow) + "\n"), std::string(kNow).size());
}

TEST(Llama3JsonGrammar, is_one_call_or_text_that_does_not_begin_as_one) {
  const std::string call = "{\"name\": \"add\", \"parameters\": {\"a\": 5}}";
  EXPECT_TRUE(Takes(*CallGrammar(Llama3JsonSyntax(), true, true), call));
  EXPECT_EQ(Follow(*CallGrammar(Llama3JsonSyntax(), true, true), "Hello"), 0u);
  EXPECT_TRUE(Takes(*CallGrammar(Llama3JsonSyntax(), false, true), call));
  EXPECT_TRUE(Takes(*CallGrammar(Llama3JsonSyntax(), false, true), "Hello {"));
  EXPECT_EQ(Follow(*CallGrammar(Llama3JsonSyntax(), false, true), "{\"x"), 2u);
}

}  // namespace
}  // namespace samebit::text
