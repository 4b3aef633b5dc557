// Ctrl-C as something to ask about: long work looks between two steps and ends in order. A second Ctrl-C while the
// first is not yet answered ends the process at once (files are written atomically, so nothing half done stays).
#pragma once

#include <atomic>

namespace samebit::cli {

// From now on SIGINT and SIGTERM are counted instead of ending the process.
void CatchInterrupts();
// True once a signal came, until ForgetInterrupt(). Any thread.
bool Interrupted();
void ForgetInterrupt();
// The flag itself, for code that polls.
const std::atomic<bool>& InterruptFlag();

}  // namespace samebit::cli
