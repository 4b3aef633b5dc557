#include "text/rust_boundary.h"

namespace samebit::text {

std::string TakeString(SamebitString string) {
  std::string copy(string.data == nullptr ? "" : string.data, string.size);
  samebit_text_free_string(string);
  return copy;
}

Error TakeError(SamebitTextCode code, SamebitString message) {
  ErrorCode our_code = ErrorCode::kInternal;
  switch (code) {
    case SAMEBIT_TEXT_MALFORMED: our_code = ErrorCode::kMalformed; break;
    case SAMEBIT_TEXT_UNSUPPORTED: our_code = ErrorCode::kUnsupported; break;
    case SAMEBIT_TEXT_TOO_LARGE: our_code = ErrorCode::kTooLarge; break;
    case SAMEBIT_TEXT_INVALID_ARGUMENT: our_code = ErrorCode::kInvalidArgument; break;
    case SAMEBIT_TEXT_CAPACITY: our_code = ErrorCode::kCapacity; break;
    case SAMEBIT_TEXT_OK:
    case SAMEBIT_TEXT_INTERNAL: break;
  }
  return Error{our_code, TakeString(message)};
}

}  // namespace samebit::text
