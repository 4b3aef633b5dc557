// The whole matrix on tiny models: exact by the law, caught with the control arm. The check that shows that the check
// can fail.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "verify/replay.h"
#include "verify/report_writers.h"
#include "world/clock.h"
#include "world/file.h"

namespace samebit::verify {
namespace {

namespace fs = std::filesystem;

std::string TinyPath(const std::string& name) { return std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/models/" + name; }

// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "samebit-replay-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  std::string At(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Runs the program replay_child, which shares nothing with this process but the files.
Result<std::string> RunChild(const Scratch& scratch, const std::string& job) {
  std::ofstream(scratch.At("job.json")) << job;
  const std::string command =
      std::string("'") + SAMEBIT_BINARY_DIR + "/replay_child' < '" + scratch.At("job.json") + "'";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return Error{ErrorCode::kIo, "popen"};
  std::string out;
  char buffer[4096];
  for (size_t bytes; (bytes = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, bytes);
  if (const int status = pclose(pipe); status != 0)
    return Error{ErrorCode::kIo, "the child ended with status " + std::to_string(status)};
  return out;
}

struct Replay {
  explicit Replay(const std::string& model) {
    options.model_path = TinyPath(model);
    options.threads = 2;
    options.cache_bytes = 64ull << 20;
    hooks.clock = &clock;
    hooks.restart = [this](const std::string& job) { return RunChild(scratch, job); };
    hooks.copy_model = [this]() -> Result<std::string> {
      const std::string copy = scratch.At("copy-" + fs::path(options.model_path).filename().string());
      fs::copy(options.model_path, copy, fs::copy_options::recursive);
      return copy;
    };
  }
  ReplayReport Run() {
    auto report = RunReplay(options, hooks);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? *report : ReplayReport{};
  }
  Scratch scratch;
  world::RealClock clock;
  ReplayOptions options;
  ReplayHooks hooks;
};

std::string NameOf(const CellReport& cell) { return std::string(AxisName(cell.axis)) + " " + cell.value; }

std::set<std::string> With(const ReplayReport& report, Verdict verdict) {
  std::set<std::string> names;
  for (const CellReport& cell : report.cells)
    if (cell.verdict == verdict) names.insert(NameOf(cell));
  return names;
}

// A context of 256 tokens is too short for these, and matrices of 96 columns too narrow for the last; the matrix must
// say so and not pass.
const std::set<std::string> kTooMuchForTiny = {"output_length 1024", "prefill_chunk 512", "page_tokens 256",
                                               "tensor_parallel 4"};

class TinyReplay : public testing::TestWithParam<const char*> {};

TEST_P(TinyReplay, is_exact_wherever_the_context_allows_a_cell) {
  Replay replay(GetParam());
  const ReplayReport report = replay.Run();
  EXPECT_EQ(With(report, Verdict::kDivergent), std::set<std::string>());
  EXPECT_EQ(With(report, Verdict::kNotMeasured), kTooMuchForTiny) << ReportTable(report, Colours::kNever);
  EXPECT_EQ(ExitCode(report), 3) << "a cell that was not measured keeps the matrix from passing";
  std::set<Axis> exact_axes;
  for (const CellReport& cell : report.cells)
    if (cell.verdict == Verdict::kExact) exact_axes.insert(cell.axis);
  std::set<Axis> axes(AllAxes().begin(), AllAxes().end());
  axes.erase(Axis::kStreaming);  // only a server has these two
  axes.erase(Axis::kRepeat);
  EXPECT_EQ(exact_axes, axes);
}

TEST_P(TinyReplay, catches_the_control_arm_and_names_its_axes) {
  Replay replay(GetParam());
  replay.options.control = true;
  const ReplayReport report = replay.Run();
  EXPECT_EQ(ExitCode(report), 1) << ReportTable(report, Colours::kNever);
  const std::set<std::string> divergent = With(report, Verdict::kDivergent);
  EXPECT_TRUE(divergent.contains("concurrency 8")) << ReportTable(report, Colours::kNever);
  EXPECT_TRUE(divergent.contains("threads 1")) << ReportTable(report, Colours::kNever);
  EXPECT_FALSE(divergent.contains("concurrency 1"))
      << "the control arm repeats itself; only its order depends on the batch";
  for (const CellReport& cell : report.cells)
    if (cell.verdict == Verdict::kDivergent) {
      EXPECT_TRUE(cell.drift.has_value()) << NameOf(cell);
      EXPECT_NE(cell.drift_reason, "") << NameOf(cell);
    }
  EXPECT_NE(VerdictSentence(report).find("concurrency"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Models, TinyReplay, testing::Values("llama-q4_1.gguf", "gemma3.gguf"), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

TEST(ReplayMatrix, passes_where_every_cell_is_measured) {
  Replay replay("llama-tied");
  replay.options.axes = {Axis::kPrefixCache, Axis::kPreemption, Axis::kProcess};
  const ReplayReport report = replay.Run();
  EXPECT_EQ(ExitCode(report), 0) << ReportTable(report, Colours::kNever);
  EXPECT_EQ(report.cells.size(), 8u) << "the cells of three axes, and the repeat of the base";
}

TEST(ReplayMatrix, two_runs_find_the_same_answers) {
  Replay first("llama-q4_1.gguf"), second("llama-q4_1.gguf");
  first.options.axes = second.options.axes = {Axis::kSamples};
  second.options.threads = 1;
  const ReplayReport a = first.Run(), b = second.Run();
  ASSERT_EQ(a.bases.size(), b.bases.size());
  ASSERT_FALSE(a.bases.empty());
  for (size_t i = 0; i < a.bases.size(); ++i) EXPECT_EQ(a.bases[i].answer_sha256, b.bases[i].answer_sha256);
}

TEST(ReplayMatrix, without_a_way_to_restart_the_process_axis_is_not_measured) {
  Replay replay("llama-q4_1.gguf");
  replay.options.axes = {Axis::kProcess};
  replay.hooks.restart = nullptr;
  const ReplayReport report = replay.Run();
  EXPECT_EQ(With(report, Verdict::kNotMeasured), (std::set<std::string>{"process restarted", "process redeployed"}));
  EXPECT_EQ(ExitCode(report), 3);
}

TEST(ReplayMatrix, runs_prompts_of_a_file) {
  Replay replay("llama-q4_1.gguf");
  replay.options.axes = {Axis::kConcurrency};
  replay.options.prompts_path = replay.scratch.At("prompts.jsonl");
  std::ofstream(replay.options.prompts_path) << R"({"id":"one","prompt":"Hello there"})" << "\n"
                                             << R"({"id":"two","prompt":"And you?","max_tokens":16})" << "\n";
  const ReplayReport report = replay.Run();
  EXPECT_EQ(ExitCode(report), 0) << ReportTable(report, Colours::kNever);
  std::set<std::string> ids;
  for (const BaseReport& base : report.bases) ids.insert(base.prompt_id);
  EXPECT_TRUE(ids.contains("one") && ids.contains("two"));
}

TEST(ReplayMatrix, ends_between_steps_when_it_is_cancelled) {
  Replay replay("llama-q4_1.gguf");
  std::atomic<bool> cancelled = false;
  replay.hooks.cancelled = &cancelled;
  uint64_t calls = 0;
  replay.hooks.progress = [&](const ReplayProgress& progress) {
    EXPECT_LE(progress.tokens_done, progress.tokens_total);
    if (++calls == 50) cancelled = true;
  };
  const auto report = RunReplay(replay.options, replay.hooks);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_LE(calls, 51u);
}

TEST(ReplayMatrix, a_model_or_prompts_that_are_not_there_are_an_error) {
  Replay replay("no-such-model.gguf");
  EXPECT_EQ(RunReplay(replay.options, replay.hooks).error().code, ErrorCode::kNotFound);
  Replay other("llama-q4_1.gguf");
  other.options.prompts_path = "no-such-prompts.jsonl";
  EXPECT_EQ(RunReplay(other.options, other.hooks).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace samebit::verify
