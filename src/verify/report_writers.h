// A ReplayReport as text for people and programs. Pure functions; writing the file is the caller's
// (world::WriteFileAtomically, so that a Ctrl-C leaves no half report).
#pragma once

#include <string>

#include "verify/replay_report.h"

namespace samebit::verify {

enum class Colours { kNever, kAnsi };

// A table of at most 100 columns, then the verdict sentence. Ends in a newline.
std::string ReportTable(const ReplayReport& report, Colours colours);

// Schema samebit.replay/1. Numbers are JSON numbers (shortest form); 64-bit seeds are strings.
std::string ReportJson(const ReplayReport& report);

// One testsuite, one testcase per cell; divergent: failure, not measured: error.
// With control, as without: the cells that diverged are failures.
std::string ReportJUnit(const ReplayReport& report);

// One page that needs nothing else: no script, style, font or picture from anywhere.
std::string ReportHtml(const ReplayReport& report);

}  // namespace samebit::verify
