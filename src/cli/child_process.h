// This same program, started again: a process that shares no memory with this one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::cli {

// Runs /proc/self/exe with `arguments`, gives it `input` on standard input and returns its standard output; its
// standard error is ours. An interrupt ends the child. Failure: kIo (could not be started, or its exit status),
// kCancelled.
Result<std::string> RunOwnProgram(const std::vector<std::string>& arguments, std::string_view input);

}  // namespace samebit::cli
