// Did a cell over HTTP really do what its name says? Only what can be seen from outside: requests in flight, the server's
// own count, its fingerprint. Pure.
#pragma once

#include <vector>

#include "verify/cell.h"
#include "verify/cell_run.h"
#include "verify/evidence.h"
#include "verify/remote/probe.h"

namespace samebit::verify {

Evidence RemoteEvidenceOf(const Cell& cell, const CellRun& run, const ServerFacts& facts);

}  // namespace samebit::verify
