#include "cli/exit_code.h"

namespace samebit::cli {

ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kIo:
    case ErrorCode::kMalformed:
    case ErrorCode::kUnsupported:
    case ErrorCode::kTooLarge:
    case ErrorCode::kCapacity:  // a budget that the caller set is too small for what the caller asked
    case ErrorCode::kContextOverflow:
      return ExitCode::kBadInput;
    case ErrorCode::kNumeric:
    case ErrorCode::kCancelled:
    case ErrorCode::kSelfTestFailed:
    case ErrorCode::kInternal:
      return ExitCode::kNotMeasured;
  }
  return ExitCode::kNotMeasured;
}

}  // namespace samebit::cli
