// Did a cell really do what its name says? A matrix that counts a cache that was never hit as "exact" proves nothing.
#pragma once

#include <string>
#include <vector>

#include "verify/cell.h"
#include "verify/cell_run.h"
#include "verify/prompt.h"

namespace samebit::verify {

struct Evidence {
  bool shown = false;
  std::string text;     // what was seen, for the report; also where it was not enough
  std::string missing;  // what should have been seen; empty where shown
};

// Looks at the traces and counters of the run, never at the answers' values (apart from counting distinct ones for n).
Evidence EvidenceOf(const Cell& cell, const CellRun& run, const std::vector<PreparedPrompt>& prompts);

// Every sample asked for came, and samples of one request differ. For runs on engines and on servers.
Evidence EvidenceOfSamples(const Cell& cell, const CellRun& run);

}  // namespace samebit::verify
