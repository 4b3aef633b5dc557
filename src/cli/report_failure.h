// How a command that failed says so.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace samebit::cli {

// One sentence on standard error and, where the arguments ask for JSON on standard output (a bare --json), one object
// {"error": {"code", "message"}} there. Returns the exit code of the process.
int ReportFailure(const Error& error, const std::vector<std::string>& arguments);

}  // namespace samebit::cli
