// Something that answers prompts: what the matrix runs on, whatever stands behind it.
//
// Two of them: engine_answerer.h (engines of this process) and remote/remote_answerer.h (a server, over HTTP). The matrix
// asks for base answers and for cells; how many there are and what they must show is the plan's business.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "engine/request.h"
#include "verify/base_answers.h"
#include "verify/cell.h"
#include "verify/cell_run.h"
#include "verify/evidence.h"

namespace samebit::verify {

class Answerer {
 public:
  // Called on the caller's thread, with the tokens done since the call began; false: cancelled.
  using Watcher = std::function<bool(uint64_t tokens_done)>;

  virtual ~Answerer() = default;
  // One request alone, while nothing else is asked; one choice. Failures: kCancelled, or why there is no answer: the
  // matrix cannot stand on it.
  virtual Result<engine::Completion> BaseAnswer(const BaseKey& key, uint32_t tokens_max, const Watcher& watch) = 0;
  // What goes wrong in a cell stands in the CellRun. Failures: kCancelled, and what makes further cells useless.
  virtual Result<CellRun> Run(const Cell& cell, const Watcher& watch) = 0;
  // Did the cell do what its name says, as far as this side can see?
  virtual Evidence EvidenceFor(const Cell& cell, const CellRun& run) const = 0;
};

}  // namespace samebit::verify
