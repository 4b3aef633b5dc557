// What `samebit bench` has found out, as lines for a terminal, as JSON and as a picture.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_measure.h"
#include "cli/bench_roofline.h"
#include "cli/load_model.h"
#include "world/machine.h"

namespace samebit::cli {

struct BenchResult {
  BenchRow row;
  BenchFigures figures;
  RowWork work;
  MachineRoof roof;  // the better of two, just before the row and just after it: a shared machine changes its speed
  double roofline_share() const { return SecondsAtRoof(work, roof) / figures.seconds_best(); }
  double per_second(double seconds) const { return static_cast<double>(figures.tokens) / seconds; }
};

struct BenchReport {
  const LoadedModel& loaded;
  const engine::EngineOptions& options;
  MachineRoof roof;  // the best that was measured at any time
  std::vector<BenchResult> rows;
  uint64_t resident_bytes = 0;  // with the weights packed, before the first row
  world::OwnMemory memory_at_end;
  std::vector<std::string> warnings;
};

std::string MachineLine(const BenchReport& report);
std::string RoofLine(const MachineRoof& roof);
std::string RowsHeader();
std::string RowLine(const BenchResult& one);
// The share of each phase in the time of each row, in percent.
std::string PhasesTable(const BenchReport& report);
// Time under the law over time with sums in any order; empty where that was not measured.
std::string FreeOrderTable(const BenchReport& report);
std::string ReportAsJson(const BenchReport& report);

// The roofline as one SVG image: operations per byte against operations per second, logarithmic; the roof, and a point
// for each row.
std::string RooflineAsSvg(const BenchReport& report);

}  // namespace samebit::cli
