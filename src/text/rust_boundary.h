// Between C++ and the Rust crate: strings over, errors and owned results back. Only for src/text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/rust/samebit_text.h"

namespace samebit::text {

inline SamebitSlice Slice(std::string_view text) { return {text.data(), text.size()}; }

// Copies and frees a string that Rust made.
std::string TakeString(SamebitString string);

// The error of a call that did not return SAMEBIT_TEXT_OK; frees the message.
Error TakeError(SamebitTextCode code, SamebitString message);

}  // namespace samebit::text
