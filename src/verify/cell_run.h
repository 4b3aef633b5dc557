// What happened when a cell was run: the answers, and the traces that show whether its axis was exercised. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "engine/request.h"

namespace samebit::verify {

struct RequestRun {
  std::optional<engine::Completion> completion;
  std::string error;  // set where there is no completion
  bool is_text = false;  // over HTTP, without token ids: each "token" is a byte of the answer's text
  double seconds = 0;    // over HTTP: from the request to the end of the answer
};

// What a client of a server can see of how its requests were run.
struct SeenFromOutside {
  std::optional<uint32_t> running_counted_max;  // requests that the server itself counted at once; absent: it counts none
  uint32_t counts_taken = 0;                    // how often it was asked
  uint32_t company_answered = 0;
  std::string other_maker;                      // set where an answer says that something else made it than the base
  bool old_connection_broke = false;            // a connection opened before the restart is gone after it
};

struct CellRun {
  engine::EngineOptions options;        // as the engine that ran reports them
  engine::EngineCounters counters;
  std::vector<RequestRun> requests;     // one per request of the cell, in its order
  uint64_t steps_before = 0;            // steps of the engine before the first compared request
  uint64_t company_started = 0;
  // Cells that run in another process.
  uint64_t own_process_id = 0;
  uint64_t child_process_id = 0;
  std::string own_model_path, child_model_path;
  std::string own_model_sha256, child_model_sha256;
  std::optional<SeenFromOutside> outside;  // cells that run over HTTP
  // Set where the cell could not be run at all.
  std::string failure;
};

}  // namespace samebit::verify
