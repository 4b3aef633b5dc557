// samebit bench: tokens per second with the digest of what was computed.
#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/load_model.h"
#include "cli/number_text.h"
#include "world/file.h"
#include "world/log.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples =
    R"(Each row prints its best and median tokens per second, how much of this machine's own roof (reading
and computing, measured before and after it) that is, and the digest of its answers: a row that was
measured on two machines, with other threads or another instruction set, must show one digest.

  prefill:TOKENS         one prompt on an idle engine
  decode:BATCH:DEPTH     sequences together, each with DEPTH tokens before
  mixed:BATCH:TOKENS     a prompt that arrives while BATCH sequences decode, until its first token

Examples:
  samebit bench model.gguf --quick
  samebit bench model.gguf --threads 2 --json bench.json --svg roofline.svg
  samebit bench model.gguf --row decode:8:2048 --row prefill:512)";

// Share of the threads' time that the process got; under this, something else used the cores.
constexpr double kIdleShareMin = 0.9;

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
             .help = "only this row (see below; decode:BATCH:DEPTH:TOKENS sets the timed tokens)",
             .set = [this](std::string_view text) -> Status {
               ASSIGN_OR_RETURN(const BenchRow row, ParseRow(text));
               rows_.push_back(row);
               return {};
             },
             .repeatable = true},
        Whole("--repeat", &repeats_, 1, 1000, "times that each row is measured (default 5, quick 3)"),
        Switch("--free-order", &free_order_, true,
               "measure each row also with sums in whatever order is fastest: what the fixed order costs (--repeat "
               "pairs of "
               "engines; six or more for 95 % confidence)"),
        Text("--json", "FILE", &json_path_, "write the figures to a file"),
        Text("--svg", "FILE", &svg_path_, "draw the rows under the machine's roof")};
    Append(flags, engine_.machine_flags());
    for (Flag& flag : engine_.cache_flags()) {
      if (flag.name != "--cache-mib" && flag.name != "--no-prefix-cache" && flag.name != "--context")
        flags.push_back(std::move(flag));
    }
    return flags;
  }

  Result<ExitCode> Run(const Outside& outside) override {
    ASSIGN_OR_RETURN(const engine::EngineOptions options, engine_.Resolve());
    ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(outside, engine_.Loading(*model_path_, options)));
    BenchReport report = {loaded, options, {}, {}, world::ResidentMemory().resident_bytes, {}, {}};
    WriteOut(MachineLine(report) + "\n" + TimingsLine(loaded) + "\n");
    WarnIfBusy(report);
    latest_roof_ = report.roof = MeasureRoof(*loaded.weights, options, outside.clock);
    WriteOut(RoofLine(report.roof) + "\n\n");
    CatchInterrupts();
    WriteOut(RowsHeader());
    for (const BenchRow& row : Rows(loaded.weights->config.context)) RETURN_IF_ERROR(MeasureInto(report, row, outside));
    report.memory_at_end = world::ResidentMemory();
    WriteOut("\n" + PhasesTable(report) + FreeOrderTable(report) + "\nresident with weights " +
             Bytes(report.resident_bytes) + ", peak " + Bytes(report.memory_at_end.resident_peak_bytes) + "\n");
    if (json_path_) RETURN_IF_ERROR(world::WriteFileAtomically(*json_path_, ReportAsJson(report)));
    if (svg_path_) RETURN_IF_ERROR(world::WriteFileAtomically(*svg_path_, RooflineAsSvg(report)));
    return ExitCode::kHolds;
  }

 private:
  std::vector<BenchRow> Rows(uint32_t context) const {
    if (!rows_.empty()) return rows_;
    return quick_ ? QuickRows() : FullRows(context);
  }

  Status MeasureInto(BenchReport& report, const BenchRow& row, const Outside& outside) {
    const BenchSettings settings = {report.loaded.weights, report.options, repeats_.value_or(quick_ ? 3 : 5)};
    ASSIGN_OR_RETURN(BenchFigures figures, MeasureRow(row, settings, outside.clock));
    if (free_order_) {
      ASSIGN_OR_RETURN(figures.orders, MeasureOrders(row, settings, outside.clock));
    }
    const MachineRoof before = latest_roof_;
    latest_roof_ = MeasureRoof(*settings.weights, settings.options, outside.clock);
    report.roof = Better(report.roof, latest_roof_);
    report.rows.push_back(
        {row, std::move(figures), WorkOf(row, *settings.weights, settings.options), Better(before, latest_roof_)});
    const BenchResult& one = report.rows.back();
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

  std::optional<std::string> model_path_, json_path_, svg_path_;
  std::optional<uint32_t> repeats_;
  std::vector<BenchRow> rows_;
  EngineFlags engine_;
  MachineRoof latest_roof_;
  bool quick_ = false, free_order_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeBenchCommand() { return std::make_unique<BenchCommand>(); }

}  // namespace samebit::cli
