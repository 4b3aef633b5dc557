#include "cli/interrupt.h"

#include <csignal>
#include <unistd.h>

#include "cli/exit_code.h"

namespace samebit::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void OnSignal(int) {
  if (interrupted.exchange(true)) _exit(static_cast<int>(ExitCode::kNotMeasured));
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a read from the terminal must return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted.load(); }
void ForgetInterrupt() { interrupted.store(false); }
const std::atomic<bool>& InterruptFlag() { return interrupted; }

}  // namespace samebit::cli
