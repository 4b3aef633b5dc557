// Chat templates that are broken, endless or greedy: an error, soon, and in bounded memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "text/chat_template.h"

namespace samebit::text {
namespace {

Result<std::string> Render(std::string_view source, const std::vector<ChatMessage>& messages = {{"user", "Hi"}}) {
  auto chat_template = MakeChatTemplate(source);
  if (!chat_template.ok()) return chat_template.error();
  return (*chat_template)->Render(messages, {});
}

// "{% for .. %}" around body, so many times.
std::string Loops(int depth, const std::string& body) {
  std::string source;
  for (int i = 0; i < depth; ++i) source += "{% for i" + std::to_string(i) + " in range(10000) %}";
  source += body;
  for (int i = 0; i < depth; ++i) source += "{% endfor %}";
  return source;
}

TEST(HostileChatTemplate, runaway_work_ends_in_too_large) {
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"loops", Loops(4, "")},
      {"output", Loops(3, std::string(1000, 'x'))},
      {"doubling text", "{% set ns = namespace(s='x') %}" + Loops(2, "{% set ns.s = ns.s ~ ns.s %}")},
      {"repeated text", "{{ 'x' * 1000000000000 }}"},
      {"recursive macro", "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}"},
      {"two branches", "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"},
      {"slices of slices",
       "{% set ns = namespace(s=[1, 2]) %}" + Loops(1, "{% set ns.s = ns.s[:] %}")},
      {"list shared by itself",
       "{% set ns = namespace(s=['x']) %}" + Loops(1, "{% set ns.s = [ns.s, ns.s] %}") + "{{ ns.s }}"},
      {"list shared by itself as JSON",
       "{% set ns = namespace(s=['x']) %}{% for i in range(50) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
       "{{ ns.s | tojson }}"},
      {"empty lists shared as JSON",
       "{% set ns = namespace(s=[]) %}{% for i in range(50) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
       "{{ ns.s | tojson }}"},
      {"wide format", Loops(1, "{{ '%999d' | format(1) }}")},
  };
  for (const auto& [name, source] : cases) {
    auto text = Render(source);
    ASSERT_FALSE(text.ok()) << name;
    EXPECT_EQ(text.error().code, ErrorCode::kTooLarge) << name << ": " << text.error().message;
  }
}

// Whether these give an answer or an error is the interpreter's business; that the process lives on is ours.
TEST(HostileChatTemplate, nested_values_end_in_an_error_or_an_answer) {
  const std::string start = "{% set ns = namespace(a=[], b=[]) %}";
  const std::string brackets(100, '['), ends(100, ']');
  const std::string deep = "{% set ns.a = " + brackets + "ns.a" + ends + " %}";
  const std::string deep_two = deep + "{% set ns.b = " + brackets + "ns.b" + ends + " %}";
  const std::string nest = start + "{% for i in range(300) %}" + deep + "{% endfor %}";
  const std::string nest_two = start + "{% for i in range(140) %}" + deep_two + "{% endfor %}";
  for (const char* use : {"", "{{ ns.a }}", "{{ ns.a == ns.b }}", "{{ ns.a < ns.b }}", "{{ ns.a | tojson }}",
                                 "{{ [ns.a, ns.b] | unique | list | length }}", "{{ {'k': ns.a} }}",
                                 "{{ [ns.a, ns.b] | sort | length }}", "{{ ns.a | string | length }}"}) {
    for (const std::string& source : {nest + use, nest_two + use}) {
      auto text = Render(source);
      EXPECT_TRUE(text.ok() || text.error().code != ErrorCode::kInternal) << use;
    }
  }
  EXPECT_EQ(*Render("alive"), "alive");
}

long PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(HostileChatTemplate, memory_stays_bounded) {
  const long before = PeakKilobytes();
  for (const std::string& source : {"{% set ns = namespace(s='x') %}" + Loops(2, "{% set ns.s = ns.s ~ ns.s %}"),
                                    "{{ 'x' * 1000000000000 }}" + Loops(4, "{{ [1,2,3] }}"),
                                    Loops(1, "{{ 'a' | indent(1000000000) }}")}) {
    EXPECT_FALSE(Render(source).ok());
  }
  EXPECT_LT(PeakKilobytes() - before, 100'000) << "fuel pays for about 3 MB of text";
}

TEST(HostileChatTemplate, refuses_broken_templates_with_the_line) {
  for (const char* source : {"{% for %}", "a\n{{ x", "{% endfor %}", "{{ 1 + }}", "{% if true %}", "{% unknown %}"}) {
    auto chat_template = MakeChatTemplate(source);
    ASSERT_FALSE(chat_template.ok()) << source;
    EXPECT_EQ(chat_template.error().code, ErrorCode::kMalformed);
    EXPECT_NE(chat_template.error().message.find("line"), std::string::npos) << chat_template.error().message;
  }
  for (const char* source : {"{{ nothing.at.all }}", "{{ 1 / 0 }}", "{{ 'a'.no_method() }}", "{{ no_function() }}",
                             "{% include 'other' %}", "{{ '{:>1000000000}'.format(1) }}", "{{ 'a' | no_filter }}"}) {
    auto text = Render(source);
    ASSERT_FALSE(text.ok()) << source;
    EXPECT_EQ(text.error().code, ErrorCode::kMalformed) << source << text.error().message;
  }
}

std::string Repeat(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(HostileChatTemplate, refuses_long_and_deep_syntax) {
  const std::vector<std::pair<std::string, ErrorCode>> cases = {
      {"{{ " + Repeat(100'000, "-") + "1 }}", ErrorCode::kTooLarge},
      {"{{ a" + Repeat(60'000, "-a") + " }}", ErrorCode::kTooLarge},
      {"{{ a" + Repeat(60'000, "~'x'") + " }}", ErrorCode::kTooLarge},
      {"{{ a" + Repeat(60'000, "[:]") + " }}", ErrorCode::kTooLarge},
      {"{{ " + Repeat(1000, "(") + "1" + Repeat(1000, ")") + " }}", ErrorCode::kMalformed},
      {"{{ " + Repeat(1000, "[") + "1" + Repeat(1000, "]") + " }}", ErrorCode::kMalformed},
      {Repeat(20'000, "{% if 1 %}"), ErrorCode::kMalformed},
  };
  for (const auto& [source, code] : cases) {
    auto chat_template = MakeChatTemplate(source);
    ASSERT_FALSE(chat_template.ok()) << source.substr(0, 20);
    EXPECT_EQ(chat_template.error().code, code) << chat_template.error().message;
  }
}

TEST(HostileChatTemplate, long_quoted_text_in_a_tag_is_not_long_code) {
  const std::string text = Repeat(2000, "say \\'}}\\' ");
  auto rendered = Render("{{ '" + text + "' + \"" + Repeat(2000, "x-x") + "\" }}");
  ASSERT_TRUE(rendered.ok()) << rendered.error().message;
  EXPECT_EQ(rendered->size(), 2000 * (9 + 3));
}

// The longest that are let through: the compiler recurses over them, on a stack that is sized for it.
TEST(HostileChatTemplate, compiles_the_longest_syntax_that_it_takes) {
  for (const std::string& source :
       {"{{ " + Repeat(4090, "-") + "1 }}", "{{ 1" + Repeat(2000, "+1") + " }}", "{{ a" + Repeat(2000, "-a") + " }}",
        "{% if 1 %}" + Repeat(20'000, "{% elif 1 %}") + "{% endif %}", "{{ x" + Repeat(2000, "|e") + " }}"}) {
    EXPECT_TRUE(MakeChatTemplate(source).ok()) << source.substr(0, 20);
  }
}

TEST(HostileChatTemplate, bounds_the_input) {
  EXPECT_EQ(MakeChatTemplate(std::string(limits::kTemplateBytesMax + 1, 'x')).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(MakeChatTemplate("\xFF").error().code, ErrorCode::kMalformed);
  EXPECT_EQ(Render("x", {{"user", "\xFF"}}).error().code, ErrorCode::kMalformed);
  EXPECT_EQ(Render("x", {{"user", std::string(limits::kPromptBytesMax + 1, 'x')}}).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(Render("x", std::vector<ChatMessage>(limits::kMessagesMax + 1, {"user", ""})).error().code,
            ErrorCode::kTooLarge);
}

// Ten thousand numbers, compared a million times within one list: fuel counts the items of the outermost list, and the
// allocator sees each list once. Nothing but time is used up.
TEST(HostileChatTemplate, a_comparison_that_needs_time_alone_is_given_up) {
  auto text = Render("{% set x = range(10000) | list %}{% set y = range(10000) | list %}"
                     "{{ [[x] * 1000000] == [[y] * 1000000] }}");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kTooLarge) << text.error().message;
  EXPECT_NE(text.error().message.find("did not end"), std::string::npos) << text.error().message;
}

// A list that holds itself 2^50 times: every way to make a text of it wants a petabyte in one operation.
const std::string kHeldByItself = "{% set x = ['abcdefgh'] %}" + Repeat(50, "{% set x = [x, x] %}");

TEST(HostileChatTemplate, memory_that_fuel_does_not_see_is_bounded) {
  const std::vector<const char*> uses = {"{{ (x ~ '') | length }}",
                                         "{{ x | string | length }}",
                                         "{{ x | upper }}",
                                         "{{ x | replace('a', 'b') }}",
                                         "{{ [x, x] | join }}",
                                         "{{ ''.join([x]) }}",
                                         "{{ '%s' | format(x) }}",
                                         "{{ '{}'.format(x) }}",
                                         "{{ x in 'abc' }}",
                                         "{{ raise_exception(x) }}",
                                         "{{ {'k': x} | dictsort | string }}",
                                         "{% set a %}{{ x }}{% endset %}",
                                         "{% macro m() %}{{ x }}{% endmacro %}{{ m() | length }}"};
  const long before = PeakKilobytes();
  for (const char* use : uses) {
    auto text = Render(kHeldByItself + use);
    ASSERT_FALSE(text.ok()) << use;
    EXPECT_EQ(text.error().code, ErrorCode::kTooLarge) << use << text.error().message;
  }
  // Each is left behind with what it has.
  const uint64_t each = limits::kTemplateMemoryBytes + 2 * limits::kTemplateFuel * limits::kTemplateMemoryBytesPerFuel;
  EXPECT_LT(PeakKilobytes() - before, static_cast<long>(uses.size() * each / 1024));
  EXPECT_EQ(*Render("alive"), "alive");
}

TEST(HostileChatTemplate, comparisons_that_fuel_does_not_see_are_bounded) {
  const std::string two = kHeldByItself + "{% set y = ['abcdefgh'] %}" + Repeat(50, "{% set y = [y, y] %}");
  const std::string maps = "{% set x = {'k': 1} %}{% set y = {'k': 1} %}" +
                           Repeat(50, "{% set x = {'a': x, 'b': x} %}{% set y = {'a': y, 'b': y} %}");
  for (const char* use : {"{{ x == y }}", "{{ x < y }}", "{{ x in [y] }}", "{{ [x, y] | sort | length }}",
                          "{{ [x, y] | unique | list | length }}", "{{ [y].count(x) }}", "{{ x is eq y }}",
                          "{{ [x] | select('equalto', y) | list | length }}", "{{ [x, y] | min | length }}"}) {
    for (const std::string& values : {two, maps}) {
      auto text = Render(values + use);
      ASSERT_FALSE(text.ok()) << use;
      EXPECT_EQ(text.error().code, ErrorCode::kTooLarge) << use << text.error().message;
    }
  }
  // Of a key that is such a list, every part is hashed.
  EXPECT_EQ(Render(two + "{{ {x: 1}[y] }}").error().code, ErrorCode::kTooLarge);
}

TEST(HostileChatTemplate, refuses_to_trim_many_characters) {
  for (const char* use : {"{{ 'a'.strip('b' * 65) }}", "{{ 'a'.rstrip('b' * 65) }}", "{{ 'a' | trim('b' * 65) }}"}) {
    ASSERT_FALSE(Render(use).ok()) << use;
    EXPECT_EQ(Render(use).error().code, ErrorCode::kMalformed) << use;
  }
  EXPECT_EQ(*Render("{{ 'baab'.strip('b' * 64) }}{{ 'cac' | trim('c') }}{{ ' a ' | trim }}"), "aaaa");
}

TEST(HostileChatTemplate, one_that_is_given_up_again_and_again_is_not_tried_any_more) {
  auto chat_template = MakeChatTemplate("{% if messages[0].content == 'bad' %}" + kHeldByItself +
                                        "{{ x | string | length }}{% endif %}good");
  ASSERT_TRUE(chat_template.ok()) << chat_template.error().message;
  EXPECT_EQ((*chat_template)->Render({{"user", "fine"}}, {}).value(), "good");
  for (int i = 0; i < 4; ++i) {
    const auto text = (*chat_template)->Render({{"user", "bad"}}, {});
    ASSERT_FALSE(text.ok());
    EXPECT_NE(text.error().message.find("too much memory"), std::string::npos) << text.error().message;
  }
  const auto text = (*chat_template)->Render({{"user", "fine"}}, {});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(text.error().message.find("too often"), std::string::npos) << text.error().message;
}

TEST(HostileChatTemplate, long_messages_are_not_mistaken_for_runaway_work) {
  const std::string content(8 << 20, 'x');
  auto text = Render("{% for m in messages %}{{ '<' + m['content'].strip() + '>' }}{% endfor %}", {{"user", content}});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "<" + content + ">");
}

}  // namespace
}  // namespace samebit::text
