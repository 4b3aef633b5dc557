// What of a position's tokens a grammar leaves to choose from. Engine-internal; called by workers, each with the state of
// its own sequence.
#pragma once

#include <vector>

#include "engine/sampler.h"
#include "text/grammar.h"

namespace samebit::engine {

// Fills input.allowed, which points into `words`, and takes input.masked (the stop ids, while tokens_min is not reached)
// off it. Stop ids are let through where the answer may end; where nothing else is left they are, even before tokens_min.
// Failures: those of GrammarState::Mask; kUnsupported where nothing is left at all.
Status MaskByGrammar(text::GrammarState& state, const std::vector<TokenId>& stop_ids, std::vector<uint32_t>& words,
                     SampleInput& input);

}  // namespace samebit::engine
