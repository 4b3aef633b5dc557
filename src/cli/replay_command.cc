// samebit replay: the matrix of verify/replay.h, on a model or against a server; its table on standard output and its
// reports in files.
#include <cstdio>

#include "cli/child_process.h"
#include "cli/command.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/model_copy.h"
#include "cli/number_text.h"
#include "cli/packed_cache.h"
#include "cli/replay_url.h"
#include "cli/versions.h"
#include "model/describe.h"
#include "verify/prompt_file.h"
#include "verify/replay.h"
#include "verify/report_writers.h"
#include "world/file.h"
#include "world/log.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples =
    R"(Exit codes: 0 every cell exact, 1 a cell diverged (with --control: caught), 2 bad input, 3 not measured.

Examples:
  samebit replay model.gguf
  samebit replay model.gguf --full --html report.html --junit report.xml
  samebit replay model.gguf --control                    an order-dependent arm, which must be caught
  samebit replay model.gguf --prompts prompts.jsonl --axis concurrency --axis prefix_cache
  samebit replay --url http://127.0.0.1:8080             any server that speaks OpenAI's interface
  samebit replay --url https://models.example/v1 --model large --api-key-env MODELS_KEY --junit report.xml
  samebit replay --url http://127.0.0.1:8000 --axis process --restart-command 'systemctl restart vllm')";

class ReplayCommand final : public Command {
 public:
  std::string name() const override { return "replay"; }
  std::string summary() const override { return "runs prompts in every way a server could and compares the bits"; }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    std::vector<Flag> flags = {Text("MODEL", "", &model_path_, "a .gguf file or a Hugging Face folder")};
    Append(flags, server_.flags());
    Append(
        flags,
        Grouped("Matrix",
                {Switch("--quick", &quick_, true, "the quick matrix (default)"),
                 Switch("--full", &full_, true, "the full matrix: long contexts, long answers, every value"),
                 Text("--prompts", "FILE.jsonl", &prompts_path_, "prompts of your own (default: a built-in set)"),
                 AxisFlag(), Switch("--control", &control_, true, "run the order-dependent arm, which must be caught"),
                 Whole64("--seed", &seed_, "seed of the sampled answers (default 42)")}));
    Append(flags, Grouped("Reports (written whole or not at all)",
                          {Text("--json", "FILE", &json_path_, "everything, for programs"),
                           Text("--junit", "FILE", &junit_path_, "one test case per cell"),
                           Text("--html", "FILE", &html_path_, "one page with the heat map")}));
    Append(flags, engine_.machine_flags());
    for (Flag& flag : engine_.cache_flags()) {
      // The other settings are axes of the matrix.
      if (flag.name == "--kv") {
        flag.group = "Machine";
        flags.push_back(std::move(flag));
      } else if (flag.name == "--cache-mib") {
        flag.group = "Machine";
        flag.help = "KV budget of every engine in MiB (default 1024)";
        flags.push_back(std::move(flag));
      }
    }
    return flags;
  }

  Result<ExitCode> Run(const Outside& outside) override {
    if (quick_ && full_) return Error{ErrorCode::kInvalidArgument, "--quick and --full exclude each other: give one"};
    RETURN_IF_ERROR(CheckWhatIsReplayed());
    CatchInterrupts();
    ASSIGN_OR_RETURN(const verify::ReplayReport report, server_.url ? MeasureServer(outside) : MeasureModel(outside));
    WriteOut(verify::ReportTable(report, outside.terminal.colour ? verify::Colours::kAnsi : verify::Colours::kNever));
    RETURN_IF_ERROR(WriteReports(report));
    return static_cast<ExitCode>(verify::ExitCode(report));
  }

 private:
  Flag AxisFlag() {
    std::string names;
    for (const verify::Axis axis : verify::AllAxes())
      names += (names.empty() ? "" : ", ") + std::string(verify::AxisName(axis));
    return {.name = "--axis",
            .value = "NAME",
            .help = "only this axis: " + names,
            .set = [this, names](std::string_view text) -> Status {
              const auto axis = verify::ParseAxis(text);
              if (!axis) {
                return Error{ErrorCode::kInvalidArgument,
                             "expected one of " + names + ", found " + model::Printable(text)};
              }
              axes_.push_back(*axis);
              return {};
            },
            .repeatable = true};
  }

  Result<verify::ReplayOptions> Options() const {
    ASSIGN_OR_RETURN(const engine::EngineOptions engine, engine_.Resolve());
    verify::ReplayOptions options;
    options.model_path = *model_path_;
    options.prompts_path = prompts_path_.value_or("");
    options.plan = full_ ? verify::PlanKind::kFull : verify::PlanKind::kQuick;
    options.control = control_;
    options.threads = engine.threads;
    options.isa = engine.isa;
    options.cache_type = engine.cache_type;
    if (engine_.cache_mib) options.cache_bytes = engine.cache_bytes;
    options.seed = seed_.value_or(options.seed);
    options.axes = axes_;
    options.version = OwnVersion();
    return options;
  }

  Status CheckWhatIsReplayed() const {
    if (server_.url.has_value() == model_path_.has_value())
      return Error{ErrorCode::kInvalidArgument, server_.url ? "MODEL and --url exclude each other: give one"
                                                            : "expected MODEL, or --url for a server; found neither"};
    if (const std::string flag = server_.GivenWithoutUrl(); !flag.empty())
      return Error{ErrorCode::kInvalidArgument, flag + " is about a server: it needs --url"};
    if (server_.url && control_)
      return Error{ErrorCode::kInvalidArgument, "--control replaces the engine's arithmetic, and a server has its own"};
    return {};
  }

  // Hooks that every replay has. `bar` and `outside` outlive them.
  static verify::ReplayHooks HooksOf(const Outside& outside, ProgressBar& bar) {
    verify::ReplayHooks hooks;
    hooks.clock = &outside.clock;
    hooks.cancelled = &InterruptFlag();
    hooks.progress = [&bar, &clock = outside.clock, drawn_ms = uint64_t{0}](const verify::ReplayProgress& progress) mutable {
      // Ten pictures a second are enough; drawing more would cost time.
      const uint64_t now_ms = clock.monotonic_ns() / 1'000'000;
      if (!progress.cell_finished && now_ms - drawn_ms < 100) return;
      drawn_ms = now_ms;
      bar.Show(progress.tokens_done, progress.tokens_total,
               "cell " + std::to_string(progress.cell_index) + "/" + std::to_string(progress.cell_count) + " " +
                   std::string(progress.what));
    };
    return hooks;
  }

  static Result<verify::ReplayReport> UnlessInterrupted(Result<verify::ReplayReport> report) {
    if (Interrupted())
      return Error{ErrorCode::kCancelled, "interrupted: nothing was measured, and no report was written"};
    return report;
  }

  Result<verify::ReplayReport> MeasureServer(const Outside& outside) const {
    ProgressBar bar(outside.terminal, "replay");
    verify::RemoteReplayOptions options;
    if (prompts_path_) {
      ASSIGN_OR_RETURN(options.prompts, verify::LoadPromptFile(*prompts_path_));
      options.prompt_set = *prompts_path_;
    }
    options.plan = full_ ? verify::PlanKind::kFull : verify::PlanKind::kQuick;
    options.seed = seed_.value_or(options.seed);
    options.axes = axes_;
    options.version = OwnVersion();
    auto report = UnlessInterrupted(server_.Measure(std::move(options), HooksOf(outside, bar)));
    if (report.ok() || report.error().code == ErrorCode::kInvalidArgument) return report;
    // The world between here and a server is no bad input: nothing could be said about it.
    return Error{ErrorCode::kCancelled, "not measured: " + report.error().message};
  }

  Result<verify::ReplayReport> MeasureModel(const Outside& outside) const {
    ASSIGN_OR_RETURN(const verify::ReplayOptions options, Options());
    ModelCopy copy;
    ProgressBar bar(outside.terminal, "replay");
    verify::ReplayHooks hooks = HooksOf(outside, bar);
    // The restarted process gets the same folder: what this one packed, that one maps.
    std::vector<std::string> child = {"replay-child"};
    if (engine_.packed_cache) child.insert(child.end(), {"--packed-cache", *engine_.packed_cache});
    hooks.restart = [child](const std::string& job) { return RunOwnProgram(child, job); };
    hooks.load_weights = WeightsLoaderOf(engine_.packed_cache);
    hooks.copy_model = [&] { return copy.Make(options.model_path); };
    return UnlessInterrupted(verify::RunReplay(options, hooks));
  }

  Status WriteReports(const verify::ReplayReport& report) const {
    const auto write = [](const std::optional<std::string>& path, const std::string& text) -> Status {
      return path ? world::WriteFileAtomically(*path, text) : Status();
    };
    if (json_path_) RETURN_IF_ERROR(write(json_path_, verify::ReportJson(report)));
    if (junit_path_) RETURN_IF_ERROR(write(junit_path_, verify::ReportJUnit(report)));
    if (html_path_) RETURN_IF_ERROR(write(html_path_, verify::ReportHtml(report)));
    return {};
  }

  std::optional<std::string> model_path_, prompts_path_, json_path_, junit_path_, html_path_;
  std::optional<uint64_t> seed_;
  std::vector<verify::Axis> axes_;
  EngineFlags engine_;
  ReplayUrlFlags server_;
  bool quick_ = false, full_ = false, control_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeReplayCommand() { return std::make_unique<ReplayCommand>(); }

}  // namespace samebit::cli
