// Keeps an engine busy: a list of requests with so many in flight, in company if wanted, until all are answered.
// Calling thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "verify/cell_run.h"

namespace samebit::verify {

struct Load {
  std::vector<engine::Request> requests;  // submitted in this order
  uint32_t in_flight = 1;                 // compared requests and company together
  uint32_t company_min = 0;               // of these, always at least so many company
  std::function<engine::Request(uint32_t number)> company;  // makes the company; null: none
  bool drop_prefixes = false;             // the prefix cache is emptied before each request is submitted
};

struct Driven {
  std::vector<RequestRun> requests;       // one per request of the load
  uint64_t company_started = 0;
};

// after_step is called after every step; false ends the drive. A request that the engine refuses or fails has its
// error in `requests`. Company is made as long as compared requests are still to come, so that the last ones are not
// alone; what is left of it at the end is cancelled. Failure: kCancelled; kInternal where the engine stops with
// requests unanswered.
Result<Driven> DriveEngine(engine::Engine& engine, Load load, const std::function<bool()>& after_step);

}  // namespace samebit::verify
