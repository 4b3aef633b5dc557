// argv in, a filled command or one sentence out.
#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace samebit::cli {
namespace {

class FakeCommand final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "a command for tests"; }
  std::string examples() const override { return "Examples: none"; }
  std::vector<Flag> flags() override {
    return {Required(Text("MODEL", "", &model, "a model")), Text("--prompt", "TEXT", &prompt, "a text"),
            TextList("--stop", "TEXT", &stop, "a stop"),    Whole("--top-k", &top_k, 0, 10, "a number"),
            Number("--bias", &bias, -2, 2, "a decimal"),    Switch("--json", &json, true, "a switch")};
  }
  Result<ExitCode> Run(const Outside&) override { return ExitCode::kHolds; }

  std::optional<std::string> model, prompt;
  std::vector<std::string> stop;
  std::optional<uint32_t> top_k;
  std::optional<float> bias;
  bool json = false;
};

struct Parsing {
  explicit Parsing(const std::vector<std::string>& arguments) {
    commands.push_back(std::make_unique<FakeCommand>());
    auto parsed = ParseCommandLine(commands, arguments);
    if (!parsed.ok())
      error = parsed.error().message;
    else if (const auto* text = std::get_if<HelpText>(&parsed.value()))
      help = text->text;
  }
  const FakeCommand& command() const { return static_cast<const FakeCommand&>(*commands.front()); }
  std::vector<std::unique_ptr<Command>> commands;
  std::string error, help;
};

TEST(CommandLine, fills_the_flags_of_the_command) {
  const Parsing parsing({"run", "m.gguf", "--prompt", "[1,2] --json", "--stop", "a", "--stop", "b c", "--top-k=3",
                         "--bias", "-1.5", "--json"});
  ASSERT_EQ(parsing.error, "");
  EXPECT_EQ(parsing.command().model, "m.gguf");
  EXPECT_EQ(parsing.command().prompt, "[1,2] --json");
  EXPECT_EQ(parsing.command().stop, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(parsing.command().top_k, 3u);
  EXPECT_EQ(parsing.command().bias, -1.5f);
  EXPECT_TRUE(parsing.command().json);
}

TEST(CommandLine, keeps_texts_as_they_are) {
  for (const char* text : {"", " ", "--json", "-1", "a=b", "{}", "[x]", "%%", "\"quoted\"", "line\nline"}) {
    const Parsing parsing({"run", "m", "--prompt", text});
    EXPECT_EQ(parsing.error, "") << text;
    EXPECT_EQ(parsing.command().prompt, text);
    const Parsing stops({"run", "m", "--stop", text});
    EXPECT_EQ(stops.command().stop, std::vector<std::string>{text});
  }
}

TEST(CommandLine, says_what_to_do_about_a_slip) {
  EXPECT_EQ(Parsing({"run", "m", "--top-q", "3"}).error,
            "unknown flag '--top-q'; did you mean --top-k?; see `samebit run --help`");
  EXPECT_EQ(Parsing({"run", "--top-q", "3"}).error,  // MODEL is missing too
            "unknown flag '--top-q'; did you mean --top-k?; see `samebit run --help`");
  EXPECT_EQ(Parsing({"run", "m", "--frobnicate"}).error, "unknown flag '--frobnicate'; see `samebit run --help`");
  EXPECT_NE(Parsing({"rum", "m"}).error.find("did you mean `samebit run`?"), std::string::npos);
  EXPECT_NE(
      Parsing({"run", "m", "--top-k", "11"}).error.find("--top-k: expected a whole number from 0 to 10, found '11'"),
      std::string::npos);
  EXPECT_NE(Parsing({"run"}).error.find("MODEL"), std::string::npos);
  EXPECT_NE(Parsing({"run", "m", "--top-k"}).error.find("--top-k"), std::string::npos);
  EXPECT_NE(Parsing({"run", "m", "and", "more"}).error.find("put quotes"), std::string::npos);
  EXPECT_NE(Parsing({"run", "m", "--top-k", "1", "--top-k", "2"}).error.find("--top-k"), std::string::npos);
}

TEST(CommandLine, gives_help_in_every_usual_way) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{}, {"help"}, {"--help"}, {"-h"}}) {
    EXPECT_NE(Parsing(arguments).help.find("a command for tests"), std::string::npos);
  }
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"run", "--help"}, {"help", "run"}}) {
    const Parsing parsing(arguments);
    EXPECT_NE(parsing.help.find("--top-k"), std::string::npos);
    EXPECT_NE(parsing.help.find("Examples: none"), std::string::npos);
  }
}

}  // namespace
}  // namespace samebit::cli
