// samebit bench: tokens per second with the digest of what was computed.
#include <algorithm>

#include "arith/environment.h"
#include "cli/bench_rows.h"
#include "cli/command.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "base/json_writer.h"
#include "cli/load_model.h"
#include "cli/number_text.h"
#include "cli/versions.h"
#include "world/file.h"
#include "world/log.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples =
    R"(Each row prints its best and median tokens per second and the digest of its answers: rows that
were measured on two machines, or with two settings, must show the same digest.

Examples:
  samebit bench model.gguf --quick
  samebit bench model.gguf --threads 2 --json bench.json
  samebit bench model.gguf --row decode:8:2048 --row prefill:512)";

// Share of the threads' time that the process got; under this, something else used the cores.
constexpr double kIdleShareMin = 0.9;

struct Measured {
  BenchRow row;
  BenchFigures figures;
  double per_second(double seconds) const { return static_cast<double>(figures.tokens) / seconds; }
};

struct BenchReport {
  const LoadedModel& loaded;
  const engine::EngineOptions& options;
  std::vector<Measured> rows;
  uint64_t resident_bytes = 0;  // with the weights packed, before the first row
  world::OwnMemory memory_at_end;
  std::vector<std::string> warnings;
};

std::string Padded(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string RowLine(const Measured& one) {
  std::string name = one.row.name();
  name.resize(16, ' ');
  const double best = one.figures.seconds_best();
  return name + Padded(Fixed(one.per_second(best), 1), 12) +
         Padded(Fixed(one.per_second(one.figures.seconds_median()), 1), 12) +
         Padded(Fixed(1000 * best / static_cast<double>(one.figures.steps), 3), 12) + "  " +
         one.figures.digest.substr(0, 16) + "\n";
}

std::string MachineLine(const BenchReport& report) {
  return world::CpuModel() + ", " + kernels::IsaName(report.options.isa) + ", " +
         std::to_string(report.options.threads) + " threads, " + report.loaded.model->config().name + ", samebit " +
         OwnVersion() + ", " + arith::kArithmeticVersion;
}

std::string ReportAsJson(const BenchReport& report) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("samebit.bench/1").Key("rows").BeginArray();
  for (const Measured& one : report.rows) {
    json.BeginObject().Key("name").Text(one.row.kind == BenchKind::kPrefill ? "prefill" : "decode");
    json.Key("row").Text(one.row.name()).Key("tokens").Number(one.row.tokens).Key("batch").Number(one.row.batch);
    json.Key("depth").Number(one.row.depth);
    json.Key("tokens_per_second").Number(one.per_second(one.figures.seconds_best()));
    json.Key("tokens_per_second_median").Number(one.per_second(one.figures.seconds_median()));
    json.Key("ms_per_step").Number(1000 * one.figures.seconds_best() / static_cast<double>(one.figures.steps));
    json.Key("seconds").BeginArray();
    for (const double seconds : one.figures.seconds) json.Number(seconds);
    json.EndArray().Key("cpu_share").Number(one.figures.cpu_share).Key("digest").Text(one.figures.digest).EndObject();
  }
  json.EndArray().Key("ready_seconds").Number(report.loaded.timings.total_seconds());
  json.Key("weights_bytes").Number(report.loaded.weights->bytes()).Key("resident_bytes").Number(report.resident_bytes);
  json.Key("resident_peak_bytes").Number(report.memory_at_end.resident_peak_bytes);
  json.Key("cpu").Text(world::CpuModel()).Key("isa").Text(kernels::IsaName(report.options.isa));
  json.Key("threads").Number(report.options.threads).Key("model").Text(report.loaded.model->config().name);
  json.Key("model_path").Text(report.loaded.model->path()).Key("arithmetic").Text(arith::kArithmeticVersion);
  json.Key("versions").BeginObject();
  for (const NamedVersion& one : Versions()) json.Key(one.name).Text(one.version);
  json.EndObject().Key("warnings").BeginArray();
  for (const std::string& warning : report.warnings) json.Text(warning);
  return json.EndArray().EndObject().Finish() + "\n";
}

class BenchCommand final : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string summary() const override { return "tokens per second, with a digest of what was computed"; }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    std::vector<Flag> flags = {
        Required(Text("MODEL", "", &model_path_, "a .gguf file or a Hugging Face folder")),
        Switch("--quick", &quick_, true, "fewer and shorter rows"),
        Flag{.name = "--row",
             .value = "ROW",
             .help = "only this row: prefill:TOKENS or decode:BATCH:DEPTH[:TOKENS]",
             .set = [this](std::string_view text) -> Status {
               ASSIGN_OR_RETURN(const BenchRow row, ParseRow(text));
               rows_.push_back(row);
               return {};
             },
             .repeatable = true},
        Whole("--repeat", &repeats_, 1, 1000, "times that each row is measured (default 5, quick 3)"),
        Text("--json", "FILE", &json_path_, "write the figures to a file")};
    Append(flags, engine_.machine_flags());
    for (Flag& flag : engine_.cache_flags()) {
      if (flag.name != "--cache-mib" && flag.name != "--no-prefix-cache" && flag.name != "--context")
        flags.push_back(std::move(flag));
    }
    return flags;
  }

  Result<ExitCode> Run(const Outside& outside) override {
    ASSIGN_OR_RETURN(const engine::EngineOptions options, engine_.Resolve());
    ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(outside, *model_path_, options.isa, options.threads));
    BenchReport report = {loaded, options, {}, world::ResidentMemory().resident_bytes, {}, {}};
    WriteOut(MachineLine(report) + "\n" + TimingsLine(loaded) + "\n\n");
    WarnIfBusy(report);
    CatchInterrupts();
    WriteOut("row              best tok/s  median tok/s     ms/step  digest\n");
    for (const BenchRow& row : Rows()) RETURN_IF_ERROR(MeasureInto(report, row, outside));
    report.memory_at_end = world::ResidentMemory();
    WriteOut("\nresident with weights " + Bytes(report.resident_bytes) + ", peak " +
             Bytes(report.memory_at_end.resident_peak_bytes) + "\n");
    if (json_path_) RETURN_IF_ERROR(world::WriteFileAtomically(*json_path_, ReportAsJson(report)));
    return ExitCode::kHolds;
  }

 private:
  std::vector<BenchRow> Rows() const {
    if (!rows_.empty()) return rows_;
    return quick_ ? QuickRows() : FullRows();
  }

  Status MeasureInto(BenchReport& report, const BenchRow& row, const Outside& outside) const {
    const BenchSettings settings = {report.loaded.weights, report.options, repeats_.value_or(quick_ ? 3 : 5)};
    ASSIGN_OR_RETURN(BenchFigures figures, MeasureRow(row, settings, outside.clock));
    report.rows.push_back({row, std::move(figures)});
    const Measured& one = report.rows.back();
    WriteOut(RowLine(one));
    if (one.figures.cpu_share < kIdleShareMin) {
      Warn(report, row.name() + ": the threads got " + Fixed(100 * one.figures.cpu_share, 0) +
                       " % of their cores; something else is running here and the row is too slow");
    }
    return {};
  }

  // The load average counts what ran before us; ourselves we have hardly run yet.
  static void WarnIfBusy(BenchReport& report) {
    const auto load = world::ReadWholeFile("/proc/loadavg", 4096);
    if (!load.ok()) return;
    const auto value = ParseDecimal(std::string_view(load.value()).substr(0, load->find(' ')), 0, 1e6f);
    if (value.ok() && value.value() > 0.5f) {
      Warn(report,
           "the load average is " + Decimal(value.value()) + ": this machine is not idle, figures may be too low");
    }
  }

  static void Warn(BenchReport& report, const std::string& message) {
    report.warnings.push_back(message);
    world::StderrLog().Write(world::LogLevel::kWarning, message);
  }

  std::optional<std::string> model_path_, json_path_;
  std::optional<uint32_t> repeats_;
  std::vector<BenchRow> rows_;
  EngineFlags engine_;
  bool quick_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeBenchCommand() { return std::make_unique<BenchCommand>(); }

}  // namespace samebit::cli
