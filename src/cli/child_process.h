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

// Runs a command line with /bin/sh and waits for its end; what it prints goes to standard error. What it leaves running
// in the background runs on. Failures: kIo (it could not be started, or ended with another code than 0), kCancelled.
Status RunShellCommand(const std::string& command);

}  // namespace samebit::cli
