// Prompt templates: what they render to, and what is refused by whom.
#include "text/prompt_template.h"

#include <gtest/gtest.h>

namespace samebit::text {
namespace {

PromptVariable Variable(const std::string& name, PromptVariableType type) {
  PromptVariable variable;
  variable.name = name;
  variable.type = type;
  variable.length_max = 20;
  variable.integer_min = -5;
  variable.integer_max = 5;
  variable.number_max = 1;
  variable.choices = {"red", "blue"};
  return variable;
}

PromptTemplate Sample(const std::string& user) {
  PromptTemplate prompt;
  prompt.name = "p";
  prompt.version = "1";
  prompt.user = user;
  prompt.variables = {Variable("text", PromptVariableType::kString), Variable("whole", PromptVariableType::kInteger),
                      Variable("number", PromptVariableType::kNumber), Variable("flag", PromptVariableType::kBoolean),
                      Variable("colour", PromptVariableType::kEnum)};
  for (PromptVariable& variable : prompt.variables) variable.required = false;
  prompt.variables[0].default_value = "t";
  prompt.variables[1].default_value = int64_t{1};
  prompt.variables[2].default_value = 0.5;
  prompt.variables[3].default_value = true;
  prompt.variables[4].default_value = "red";
  return prompt;
}

std::variant<std::vector<ChatMessage>, PromptProblem> Render(const PromptTemplate& prompt, const PromptValues& values) {
  auto renderer = PromptRenderer::Make(prompt);
  if (!renderer.ok()) return PromptProblem{"<make>", renderer.error()};
  return (*renderer)->Render(values);
}

std::string User(const std::string& user, const PromptValues& values = {}) {
  auto messages = Render(Sample(user), values);
  if (auto* problem = std::get_if<PromptProblem>(&messages)) return problem->variable + "! " + problem->error.message;
  return std::get<0>(messages).back().content;
}

TEST(PromptTemplate, becomes_system_examples_and_user_in_that_order) {
  PromptTemplate prompt = Sample("Ask: {{ text }}");
  prompt.system = "You like {{ colour }}.";
  prompt.output = PromptOutput{PromptFormat::kLine, "One line.", {}, {}};
  prompt.examples = {{"{{ text }}", "verbatim", ""}};
  prompt.negative_examples = {{"q", "bad", "too long"}, {"q2", "bad2", ""}};
  auto rendered = Render(prompt, {{"text", "hello"}});
  ASSERT_EQ(rendered.index(), 0u) << std::get<1>(rendered).error.message;
  const auto& messages = std::get<0>(rendered);
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[0].content,
            "You like red.\n\nOne line.\n\nThese answers would be wrong:\n\nQuestion: q\nWrong answer: bad\nWhy: too long"
            "\n\nQuestion: q2\nWrong answer: bad2");
  EXPECT_EQ(messages[1].role, "user");
  EXPECT_EQ(messages[1].content, "{{ text }}");
  EXPECT_EQ(messages[2].role, "assistant");
  EXPECT_EQ(messages[2].content, "verbatim");
  EXPECT_EQ(messages[3].role, "user");
  EXPECT_EQ(messages[3].content, "Ask: hello");
}

TEST(PromptTemplate, without_instructions_there_is_no_system_message) {
  auto rendered = Render(Sample("x"), {});
  ASSERT_EQ(std::get<0>(rendered).size(), 1u);
  EXPECT_EQ(std::get<0>(rendered)[0].role, "user");
}

TEST(PromptTemplate, values_are_data_and_never_template) {
  EXPECT_EQ(User("[{{ text }}]", {{"text", "{{ colour }}{% x %}"}}), "[{{ colour }}{% x %}]");
  EXPECT_EQ(User("{{ text }}", {{"text", "<b>&\"'"}}), "<b>&\"'");
}

TEST(PromptTemplate, writes_values_by_their_type_and_branches_on_them) {
  EXPECT_EQ(User("{{ whole }} {{ number }} {{ flag }} {{ colour }}"), "1 0.5 True red");
  EXPECT_EQ(User("{{ number }}", {{"number", 0.1 + 0.2}}), "0.30000000000000004");
  EXPECT_EQ(User("{% if flag and whole > 2 %}a{% else %}b{% endif %}", {{"whole", int64_t{3}}}), "a");
  EXPECT_EQ(User("{% for i in range(whole) %}{{ i }},{% endfor %}", {{"whole", int64_t{3}}}), "0,1,2,");
  EXPECT_EQ(User("{{ whole + 1 }}", {{"whole", 2.0}}), "3") << "2.0 is a whole number";
}

TEST(PromptTemplate, is_refused_when_it_asks_for_what_it_does_not_have) {
  EXPECT_EQ(User("a\n{{ other }}"), "<make>! user: it asks for 'other', which is no variable of the template");
  for (const char* name : {"strftime_now", "raise_exception", "debug", "dict", "messages", "bos_token"})
    EXPECT_EQ(User("{{ " + std::string(name) + "('x') }}").substr(0, 22), "<make>! user: it asks ") << name;
  EXPECT_EQ(User("a\n{{ text").substr(0, 21), "<make>! user, line 2:");
  PromptTemplate prompt = Sample("x");
  prompt.system = "{% if text %}";
  EXPECT_EQ(std::get<1>(Render(prompt, {})).error.code, ErrorCode::kMalformed);
}

TEST(PromptTemplate, stops_a_text_that_never_ends) {
  EXPECT_EQ(User("{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}"),
            "! user, line 1: it runs too long or makes too much text");
}

TEST(PromptTemplate, names_the_variables_that_nothing_uses) {
  auto renderer = PromptRenderer::Make(Sample("{{ text }}{% if flag %}{{ whole }}{% endif %}"));
  ASSERT_TRUE(renderer.ok());
  EXPECT_EQ((*renderer)->unused(), (std::vector<std::string>{"number", "colour"}));
}

TEST(FillVariables, names_the_value_that_does_not_fit) {
  const std::vector<std::tuple<std::string, PromptValue, std::string>> cases = {
      {"other", "x", "the template has no such variable; it has text, whole, number, flag, colour"},
      {"text", int64_t{1}, "expected a string, found a whole number"},
      {"text", std::string(21, 'x'), "expected at most 20 characters, found 21"},
      {"whole", "1", "expected a whole number, found a string"},
      {"whole", 1.5, "expected a whole number, found a number"},
      {"whole", 1e300, "expected a whole number, found a number"},
      {"whole", int64_t{6}, "expected a whole number from -5 to 5, found 6"},
      {"number", 1.25, "expected a number from 0 to 1, found 1.25"},
      {"number", true, "expected a number, found a boolean"},
      {"flag", "true", "expected a boolean, found a string"},
      {"colour", "green", "expected one of red, blue, found 'green'"},
      {"colour", false, "expected one of red, blue, found a boolean"},
  };
  for (const auto& [name, value, sentence] : cases) EXPECT_EQ(User("x", {{name, value}}), name + "! " + sentence);
  // Characters, not bytes.
  std::string long_text;
  for (int i = 0; i < 20; ++i) long_text += "\xF0\x9F\x98\x80";
  EXPECT_EQ(User("{{ text }}", {{"text", long_text}}), long_text);
}

TEST(FillVariables, asks_for_what_is_required) {
  PromptTemplate prompt = Sample("{{ text }}");
  prompt.variables[0].required = true;
  prompt.variables[0].default_value.reset();
  const auto rendered = Render(prompt, {});
  EXPECT_EQ(std::get<1>(rendered).variable, "text");
  EXPECT_EQ(std::get<1>(rendered).error.message, "the template needs a value for it");
}

}  // namespace
}  // namespace samebit::text
