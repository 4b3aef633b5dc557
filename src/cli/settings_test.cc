// Command line over environment over file over default, from one table.
#include "cli/settings.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/json_reader.h"
#include "world/file.h"

namespace samebit::cli {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

class Settings : public testing::Test {
 protected:
  Settings() : path_(testing::TempDir() + "samebit_settings_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~Settings() override { std::remove(path_.c_str()); }

  std::vector<Flag> flags() {
    return {Required(Text("MODEL", "", &model_, "a model")),
            ConfigFlag(&config_),
            Whole("--max-sequences", &sequences_, 1, 10, "a number (default 4)"),
            Text("--host", "ADDRESS", &host_, "an address (default: this machine)"),
            TextList("--origin", "URL", &origins_, "several"),
            Switch("--quiet", &quiet_, true, "a switch"),
            OnlyOnCommandLine(Switch("--check", &check_, true, "asks for something"))};
  }
  // What was said, with the file's content where there is one.
  std::string Complete(const std::vector<GivenValue>& given, const Environment& environment, const char* file = nullptr) {
    std::vector<GivenValue> all = given;
    if (file != nullptr) {
      EXPECT_TRUE(world::WriteFileAtomically(path_, std::string_view(file)).ok());
      all.push_back({"--config", path_});
    }
    auto settings = CompleteSettings(flags(), all, environment);
    if (!settings.ok()) {
      std::string message = settings.error().message;
      const size_t at = message.find(path_);
      if (at != std::string::npos) message.replace(at, path_.size(), "FILE");
      return message;
    }
    settings_ = *settings;
    return "";
  }
  const Setting& Find(const std::string& name) {
    for (const Setting& setting : settings_)
      if (setting.name == name) return setting;
    static const Setting kNone;
    return kNone;
  }

  const std::string path_;
  std::optional<std::string> model_, config_, host_;
  std::optional<uint32_t> sequences_;
  std::vector<std::string> origins_;
  bool quiet_ = false, check_ = false;
  std::vector<Setting> settings_;
};

TEST_F(Settings, a_flag_has_one_name_in_each_place) {
  EXPECT_EQ(FileName(flags()[2]), "max-sequences");
  EXPECT_EQ(EnvironmentName(flags()[2]), "SAMEBIT_MAX_SEQUENCES");
  EXPECT_EQ(FileName(flags()[0]), "model");
  EXPECT_EQ(EnvironmentName(flags()[0]), "SAMEBIT_MODEL");
}

TEST_F(Settings, the_file_fills_what_nobody_else_set) {
  ASSERT_EQ(Complete({}, {}, "model: m.gguf\nmax-sequences: 3\norigin: [a, b]\nquiet: true\n"), "");
  EXPECT_EQ(model_, "m.gguf");
  EXPECT_EQ(sequences_, 3u);
  EXPECT_EQ(origins_, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(quiet_);
  EXPECT_EQ(Find("max-sequences").where, path_ + ":2");
  EXPECT_EQ(Find("host").origin, Origin::kDefault);
  EXPECT_EQ(Find("host").fallback, "this machine");
}

TEST_F(Settings, the_environment_wins_over_the_file_and_the_command_line_over_both) {
  // As the parser does before.
  host_ = "from-line";
  ASSERT_EQ(Complete({{"--host", "from-line"}}, {{"SAMEBIT_HOST", "from-env"}, {"SAMEBIT_MAX_SEQUENCES", "7"}},
                     "model: m\nhost: from-file\nmax-sequences: 3\n"),
            "");
  EXPECT_EQ(host_, "from-line");
  EXPECT_EQ(sequences_, 7u);
  EXPECT_EQ(model_, "m");
  EXPECT_EQ(Find("host").origin, Origin::kCommandLine);
  EXPECT_EQ(Find("max-sequences").origin, Origin::kEnvironment);
  EXPECT_EQ(Find("model").origin, Origin::kFile);
}

TEST_F(Settings, the_environment_can_name_the_file_and_holds_lists_and_switches) {
  ASSERT_TRUE(world::WriteFileAtomically(path_, std::string_view("model: m\n")).ok());
  ASSERT_EQ(Complete({}, {{"SAMEBIT_CONFIG", path_}, {"SAMEBIT_ORIGIN", "a,b"}, {"SAMEBIT_QUIET", "false"}}), "");
  EXPECT_EQ(model_, "m");
  EXPECT_EQ(origins_, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(quiet_);
}

TEST_F(Settings, variables_of_the_scripts_are_left_alone) {
  EXPECT_EQ(Complete({{"MODEL", "m"}}, {{"SAMEBIT_JOBS", "2"}, {"SAMEBIT_CARGO", "x"}}), "");
}

TEST_F(Settings, a_wrong_name_is_said_with_its_place_and_the_nearest_one) {
  EXPECT_EQ(Complete({}, {}, "model: m\nmax_sequences: 3\n"),
            "FILE:2: unknown setting 'max_sequences'; did you mean max-sequences?");
  EXPECT_EQ(Complete({}, {}, "colour: blue\n"), "FILE:1: unknown setting 'colour'");
  EXPECT_EQ(Complete({}, {{"SAMEBIT_MAX_SEQUENCE", "3"}}),
            "unknown environment variable 'SAMEBIT_MAX_SEQUENCE'; did you mean SAMEBIT_MAX_SEQUENCES?");
  EXPECT_EQ(Complete({}, {}, "check: true\n"), "FILE:1: setting 'check' is for the command line only");
  EXPECT_EQ(Complete({}, {}, "config: other\n"), "FILE:1: a configuration file cannot name another one");
}

TEST_F(Settings, a_wrong_value_is_said_with_its_place) {
  EXPECT_EQ(Complete({}, {}, "model: m\nmax-sequences: many\n"),
            "FILE:2: max-sequences: expected a whole number from 1 to 10, found 'many'");
  EXPECT_EQ(Complete({}, {}, "model: m\nmax-sequences: [1]\n"), "FILE:2: max-sequences: expected one value, found a list");
  EXPECT_EQ(Complete({}, {}, "model: m\nquiet: yes\n"), "FILE:2: quiet: expected true or false, found 'yes'");
  EXPECT_EQ(Complete({{"MODEL", "m"}}, {{"SAMEBIT_MAX_SEQUENCES", "tcp://10.0.0.1:80"}}),
            "SAMEBIT_MAX_SEQUENCES: expected a whole number from 1 to 10, found 'tcp://10.0.0.1:80'");
}

TEST_F(Settings, a_missing_value_or_file_is_said) {
  EXPECT_NE(Complete({}, {}).find("MODEL; give it on the command line, as SAMEBIT_MODEL or as `model:`"), std::string::npos);
  EXPECT_NE(Complete({{"--config", "/does/not/exist"}}, {}), "");
}

TEST_F(Settings, the_report_says_where_each_value_comes_from) {
  ASSERT_EQ(Complete({{"MODEL", "m"}}, {{"SAMEBIT_ORIGIN", "a,b"}}, "max-sequences: 3\n"), "");
  const std::string text = SettingsText(settings_);
  EXPECT_NE(text.find("max-sequences  3"), std::string::npos) << text;
  EXPECT_NE(text.find(":1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[a, b]"), std::string::npos) << text;
  EXPECT_NE(text.find("  SAMEBIT_ORIGIN\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("check"), std::string::npos) << text;
  const auto json = ReadJson(SettingsJson(settings_), "settings");
  ASSERT_TRUE(json.ok());
  const auto& first = json->as_object().at("settings").as_array().at(0).as_object();
  EXPECT_EQ(first.at("name").as_string(), "model");
  EXPECT_EQ(first.at("from").as_string(), "command line");
  EXPECT_EQ(first.at("values").as_array().at(0).as_string(), "m");
}

}  // namespace
}  // namespace samebit::cli
