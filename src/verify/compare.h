// One answer beside its base answer: what differs, where, and by how much. Pure.
#pragma once

#include <cstdint>

#include "engine/request.h"
#include "verify/replay_report.h"

namespace samebit::verify {

inline constexpr uint32_t kTopCompared = 5;  // candidates per position that requests ask for and comparisons look at

// Compares the first tokens_asked tokens of `base`, which may be longer: what an answer begins with must not depend on
// how much of it was asked for. `found` is null where the sample is missing. Fills the result fields of a SampleReport;
// the caller fills the fields that say which sample it is.
SampleReport CompareWithBase(const engine::Choice& base, uint32_t tokens_asked, const engine::Choice* found);

}  // namespace samebit::verify
