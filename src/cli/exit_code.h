// What a command tells the shell. The same four numbers everywhere, so that a script can rely on them.
#pragma once

#include "base/result.h"

namespace samebit::cli {

enum class ExitCode : int {
  kHolds = 0,        // it worked; what was claimed holds
  kDoesNotHold = 1,  // a divergence, a failed check
  kBadInput = 2,     // usage, a bad file, a value out of range
  kNotMeasured = 3,  // nothing could be said: interrupted, self-test failed, the arithmetic left the finite numbers
};

// Which of kBadInput and kNotMeasured a failure is.
ExitCode ExitCodeOf(ErrorCode code);

}  // namespace samebit::cli
