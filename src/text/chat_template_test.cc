// Chat templates as models bring them.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <thread>

namespace samebit::text {
namespace {

Result<std::string> Render(std::string_view source, const std::vector<ChatMessage>& messages,
                           const RenderOptions& options = {}) {
  auto chat_template = MakeChatTemplate(source);
  if (!chat_template.ok()) return chat_template.error();
  return (*chat_template)->Render(messages, options);
}

std::string Text(std::string_view source, const RenderOptions& options = {}) {
  auto text = Render(source, {{"user", "Hi"}}, options);
  return text.ok() ? *text : "error: " + text.error().message;
}

// The ChatML template of SmolLM2, with its default system text.
constexpr std::string_view kChatMl =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}"
    "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

TEST(ChatTemplate, renders_chatml_with_and_without_a_system_message) {
  EXPECT_EQ(*Render(kChatMl, {{"user", "Hi"}}),
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  RenderOptions options;
  options.add_generation_prompt = false;
  EXPECT_EQ(*Render(kChatMl, {{"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Yes"}}, options),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\nYes<|im_end|>\n");
}

TEST(ChatTemplate, strips_block_lines_as_hugging_face_does) {
  EXPECT_EQ(Text("{% for m in messages %}\n    {% if true %}\n{{ m.content }}\n    {% endif %}\n{% endfor %}\n"),
            "Hi\n");
}

TEST(ChatTemplate, knows_the_python_methods_that_templates_use) {
  EXPECT_EQ(Text("{{ '  a b '.strip() }}|{{ 'abc'.upper() }}|{{ 'a,b'.split(',')[1] }}|{{ 'abc'.startswith('ab') }}"),
            "a b|ABC|b|True");
  EXPECT_EQ(Text("{{ 'x</think>y'.split('</think>')[-1].lstrip('\\n') }}|{{ 'aXa'.replace('X', 'b') }}"), "y|aba");
  EXPECT_EQ(Text("{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}"), "a1b2");
  EXPECT_EQ(Text("{{ messages[0].get('name', 'none') }}{{ 'abc'[::-1] }}"), "nonecba");
}

TEST(ChatTemplate, keeps_state_in_namespaces_and_leaves_loops_early) {
  EXPECT_EQ(Text("{% set ns = namespace(n=0) %}{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}"
                 "{% if i == 5 %}{% break %}{% endif %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}"),
            "8");
}

TEST(ChatTemplate, gives_the_variables_that_templates_expect) {
  RenderOptions options;
  options.bos_token = "<s>";
  options.eos_token = "</s>";
  options.extra_json = R"({"enable_thinking": false, "tools": [{"name": "f", "é": [1, 2.5, null, true, "<'&\n"]}]})";
  EXPECT_EQ(Text("{{ bos_token }}{{ eos_token }}{{ enable_thinking is false }}{{ tools[0].name }}", options),
            "<s></s>Truef");
  EXPECT_EQ(Text("{{ tools is none }}{{ documents is none }}{{ unknown is defined }}"), "TrueTrueFalse");
}

TEST(ChatTemplate, writes_json_as_python_does) {
  RenderOptions options;
  options.extra_json =
      R"({"tools": [{"name": "f", "é": [1, 2.5, null, true, "<'&\n\"\u0001"]}], "nothing": [], "map": {}})";
  EXPECT_EQ(Text("{{ tools | tojson }}", options),
            R"([{"name": "f", "é": [1, 2.5, null, true, "<'&\n\"\u0001"]}])");
  EXPECT_EQ(Text("{{ tools[0]['é'][:2] | tojson(indent=2) }}{{ nothing | tojson }}{{ map | tojson(indent=4) }}",
                 options),
            "[\n  1,\n  2.5\n][]{}");
  EXPECT_EQ(Text("{{ {'b': 1, 'a': 2} | tojson }}{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}"),
            R"({"b": 1, "a": 2}{"a": 2, "b": 1})");
}

TEST(ChatTemplate, a_refusal_of_the_template_is_the_callers_error) {
  auto text = Render("{% macro check(m) %}{{ raise_exception('roles must alternate') }}{% endmacro %}"
                     "{{ check(messages[0]) }}",
                     {{"user", "Hi"}});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.error().message.find("roles must alternate"), std::string::npos) << text.error().message;
}

TEST(ChatTemplate, refuses_roles_and_variables_that_do_not_exist) {
  EXPECT_EQ(Render(kChatMl, {{"foo", "Hi"}}).error().code, ErrorCode::kInvalidArgument);
  for (const char* extra : {"[1]", "{\"a\":", "{\"messages\": []}", "nonsense"}) {
    RenderOptions options;
    options.extra_json = extra;
    auto text = Render(kChatMl, {{"user", "Hi"}}, options);
    ASSERT_FALSE(text.ok()) << extra;
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument) << extra;
  }
}

TEST(ChatTemplate, prints_only_a_date_that_it_was_given) {
  constexpr std::string_view kDated = "Today: {{ strftime_now('%d %b %Y') }}";
  auto without = Render(kDated, {{"user", "Hi"}});
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(without.error().message.find("strftime_now"), std::string::npos);
  RenderOptions options;
  options.now_unix_seconds = 1732924800;
  EXPECT_EQ(*Render(kDated, {{"user", "Hi"}}, options), "Today: 30 Nov 2024");
  // A template that only asks whether there is a clock is not refused.
  EXPECT_EQ(Text("{% if false %}{{ strftime_now('%Y') }}{% endif %}ok"), "ok");
}

TEST(ChatTemplate, dates_are_those_of_the_gregorian_calendar) {
  const auto date = [](int64_t unix_seconds, const std::string& format) {
    RenderOptions options;
    options.now_unix_seconds = unix_seconds;
    return Text("{{ strftime_now('" + format + "') }}", options);
  };
  EXPECT_EQ(date(0, "%A %d %B %Y %H:%M:%S"), "Thursday 01 January 1970 00:00:00");
  EXPECT_EQ(date(951'782'400, "%F %a"), "2000-02-29 Tue");
  EXPECT_EQ(date(1'735'689'599, "%-d %b %Y %I:%M %p"), "31 Dec 2024 11:59 PM");
  EXPECT_EQ(date(-1, "%F %T %%"), "1969-12-31 23:59:59 %");
  for (const char* refused : {"%Q", "%", "%-", "%-Q"}) EXPECT_NE(date(0, refused).find("error"), std::string::npos);
  EXPECT_NE(date(INT64_MAX, "%Y").find("error"), std::string::npos);
  EXPECT_NE(date(INT64_MIN, "%Y").find("error"), std::string::npos);
}

TEST(ChatTemplate, one_object_renders_the_same_from_many_threads) {
  auto chat_template = MakeChatTemplate(kChatMl);
  ASSERT_TRUE(chat_template.ok());
  const std::string expected = *(*chat_template)->Render({{"user", "Hi"}}, {});
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::string& text : texts) {
    threads.emplace_back([&] { text = *(*chat_template)->Render({{"user", "Hi"}}, {}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace samebit::text
