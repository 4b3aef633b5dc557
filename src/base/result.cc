#include "base/result.h"

namespace samebit {

const char* ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kMalformed: return "malformed";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kTooLarge: return "too_large";
    case ErrorCode::kCapacity: return "capacity";
    case ErrorCode::kContextOverflow: return "context_overflow";
    case ErrorCode::kNumeric: return "numeric";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kSelfTestFailed: return "self_test_failed";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

}  // namespace samebit
