// Many requests to a server at once: so many in flight, in this order, beside this company. Threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/remote/site.h"

namespace samebit::verify {

struct RemoteLoad {
  std::vector<WireRequest> requests;   // compared; submitted in this order
  uint32_t in_flight = 1;              // compared requests and company together
  uint32_t company_min = 0;            // of these, always at least so many company
  std::function<WireRequest(uint32_t number)> company;  // null: none
};

struct RemoteResult {
  std::optional<Told> told;
  std::string error;          // where there is no answer
  uint32_t together_max = 0;  // requests in flight at once while this one was, itself included
};

struct RemoteDriven {
  std::vector<RemoteResult> results;  // one per request of the load
  uint32_t company_started = 0, company_answered = 0;
  std::optional<uint32_t> running_counted_max;  // the most that the server itself counted (ServerCount)
  uint32_t counts_taken = 0;
  bool gave_up = false;  // a request got no answer at all, and no more were submitted
};

// How many requests the server says it works on at this moment; nothing where it does not say.
using ServerCount = std::function<std::optional<uint32_t>()>;

// Company comes as long as compared requests are in flight, so that the last of them are not alone; what has begun of it
// is then heard to its end: a server may work on for a client that has left, and the next load would not be alone. After a request that got no answer at all (no connection, a stall) no more are submitted: each
// would wait as long. `watch` is called with the answer tokens done; false: everything is abandoned.
// Failure: kCancelled only.
Result<RemoteDriven> DriveServer(const Site& site, const Manner& manner, const RemoteLoad& load,
                                 const ServerCount& count, const std::function<bool(uint64_t tokens_done)>& watch);

}  // namespace samebit::verify
