#include "cli/bench_report.h"

#include "arith/environment.h"
#include "base/json_writer.h"
#include "cli/number_text.h"
#include "cli/statistics.h"
#include "cli/versions.h"

namespace samebit::cli {
namespace {

std::string Left(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string Right(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

constexpr size_t kNameWidth = 18;
constexpr size_t kFigureWidth = 13;

bool Shown(size_t phase) { return phase != static_cast<size_t>(engine::Phase::kOutside); }

double Sum(const PhaseSeconds& seconds) {
  double sum = 0;
  for (const double one : seconds) sum += one;
  return sum;
}

void WriteSeconds(JsonWriter& json, const char* name, const std::vector<double>& all) {
  json.Key(name).BeginArray();
  for (const double seconds : all) json.Number(seconds);
  json.EndArray();
}

void WriteRoof(JsonWriter& json, const MachineRoof& roof) {
  json.Key("roof").BeginObject().Key("bytes_per_second").Number(roof.bytes_per_second);
  json.Key("fma_per_second").Number(roof.fma_per_second).Key("byte_dot_per_second").Number(roof.byte_dot_per_second);
  json.Key("barrier_seconds").Number(roof.barrier_seconds).EndObject();
}

void WriteRow(JsonWriter& json, const BenchResult& one) {
  const BenchFigures& figures = one.figures;
  json.BeginObject().Key("name").Text(one.row.kind_name()).Key("row").Text(one.row.name());
  json.Key("tokens").Number(one.row.tokens).Key("batch").Number(one.row.batch).Key("depth").Number(one.row.depth);
  json.Key("tokens_per_second").Number(one.per_second(figures.seconds_best()));
  json.Key("tokens_per_second_median").Number(one.per_second(figures.seconds_median()));
  json.Key("roofline_share").Number(one.roofline_share());
  json.Key("ms_per_step").Number(1000 * figures.seconds_best() / static_cast<double>(figures.steps));
  if (one.row.kind != BenchKind::kDecode) json.Key("first_token_ms").Number(1000 * figures.seconds_best());
  if (one.row.kind == BenchKind::kMixed) json.Key("tokens_beside").Number(figures.tokens_beside);
  WriteSeconds(json, "seconds", figures.seconds);
  if (!figures.orders.free.empty()) {
    WriteSeconds(json, "seconds_fixed_order", figures.orders.fixed);
    WriteSeconds(json, "seconds_free_order", figures.orders.free);
    const RatioRange cost = MedianRatio(figures.orders.fixed, figures.orders.free);
    json.Key("fixed_over_free").BeginObject().Key("median").Number(cost.median);
    json.Key("low").Number(cost.low).Key("high").Number(cost.high);
    json.Key("confidence").Number(cost.confidence).EndObject();
  }
  json.Key("phase_seconds").BeginObject();
  for (size_t phase = 0; phase < engine::kPhaseCount; ++phase)
    if (Shown(phase))
      json.Key(engine::PhaseName(static_cast<engine::Phase>(phase))).Number(figures.phase_seconds[phase]);
  json.EndObject().Key("bytes").Number(one.work.bytes).Key("float_operations").Number(one.work.float_operations);
  json.Key("byte_operations").Number(one.work.byte_operations);
  WriteRoof(json, one.roof);
  json.Key("cpu_share").Number(figures.cpu_share).Key("digest").Text(figures.digest).EndObject();
}

}  // namespace

std::string MachineLine(const BenchReport& report) {
  return world::CpuModel() + ", " + kernels::IsaName(report.options.isa) + ", " +
         std::to_string(report.options.threads) + " threads, " + report.loaded.model->config().name + ", samebit " +
         OwnVersion() + ", " + arith::kArithmeticVersion;
}

std::string RoofLine(const MachineRoof& roof) {
  return "roof: " + Fixed(roof.bytes_per_second * 1e-9, 1) + " GB/s read, " + Fixed(roof.fma_per_second * 1e-9, 0) +
         " GFLOP/s binary32, " + Fixed(roof.byte_dot_per_second * 1e-9, 0) + " GOP/s of bytes; a barrier " +
         Fixed(roof.barrier_seconds * 1e6, 2) + " us";
}

std::string RowsHeader() {
  return Left("row", kNameWidth) + Right("best tok/s", kFigureWidth) + Right("median tok/s", kFigureWidth) +
         Right("ms/step", kFigureWidth) + Right("% of roof", kFigureWidth) + "  digest\n";
}

std::string RowLine(const BenchResult& one) {
  const double best = one.figures.seconds_best();
  return Left(one.row.name(), kNameWidth) + Right(Fixed(one.per_second(best), 1), kFigureWidth) +
         Right(Fixed(one.per_second(one.figures.seconds_median()), 1), kFigureWidth) +
         Right(Fixed(1000 * best / static_cast<double>(one.figures.steps), 3), kFigureWidth) +
         Right(Fixed(100 * one.roofline_share(), 0), kFigureWidth) + "  " + one.figures.digest.substr(0, 16) + "\n";
}

std::string PhasesTable(const BenchReport& report) {
  std::string table = "time per phase, % of the row\n" + Left("", kNameWidth);
  for (const BenchResult& one : report.rows) table += Right(one.row.name(), kNameWidth);
  table += "\n";
  for (size_t phase = 0; phase < engine::kPhaseCount; ++phase) {
    if (!Shown(phase)) continue;
    table += Left(engine::PhaseName(static_cast<engine::Phase>(phase)), kNameWidth);
    for (const BenchResult& one : report.rows)
      table += Right(Fixed(100 * one.figures.phase_seconds[phase] / Sum(one.figures.phase_seconds), 1), kNameWidth);
    table += "\n";
  }
  return table;
}

std::string FreeOrderTable(const BenchReport& report) {
  std::string table;
  for (const BenchResult& one : report.rows) {
    const OrderFigures& orders = one.figures.orders;
    if (orders.free.empty()) continue;
    if (table.empty())
      table =
          "\ntime with the fixed order over time with any order: median (where it is, confidence), pairs of engines\n";
    const RatioRange cost = MedianRatio(orders.fixed, orders.free);
    table += Left(one.row.name(), kNameWidth) + Right(Fixed(cost.median, 3), kFigureWidth) + "  (" +
             Fixed(cost.low, 3) + " to " + Fixed(cost.high, 3) + ", " + Fixed(100 * cost.confidence, 0) + " %)" +
             Right(std::to_string(orders.free.size()), kFigureWidth) + "\n";
  }
  return table;
}

std::string ReportAsJson(const BenchReport& report) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("samebit.bench/2").Key("rows").BeginArray();
  for (const BenchResult& one : report.rows) WriteRow(json, one);
  json.EndArray();
  WriteRoof(json, report.roof);
  json.Key("ready_seconds").Number(report.loaded.timings.total_seconds);
  json.Key("open_seconds").Number(report.loaded.timings.open_seconds);
  json.Key("self_test_seconds").Number(report.loaded.timings.self_test_seconds);
  json.Key("pack_seconds").Number(report.loaded.timings.pack_seconds);
  json.Key("digest_seconds").Number(report.loaded.timings.digest_seconds);
  json.Key("text_seconds").Number(report.loaded.timings.text_seconds);
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

}  // namespace samebit::cli
