// Cell requests as engine requests. Pure.
#pragma once

#include <cstdint>

#include "engine/request.h"
#include "verify/cell.h"
#include "verify/prompt.h"

namespace samebit::verify {

// The seed of a prompt's seeded answers: the matrix's seed mixed with the prompt's index, so that prompts do not share
// a stream.
uint64_t SeedOf(uint64_t matrix_seed, uint32_t prompt);

// No stop ids: every answer runs to its full length, so that a cell measures as many positions as it says. Log-
// probabilities of kTopCompared candidates and digests of the logits are asked for.
engine::Request RequestOf(const CellRequest& request, const PreparedPrompt& prompt, uint64_t matrix_seed);

inline constexpr uint32_t kCompanyTokensMax = 32;  // of a neighbour's answer

// The `number`th request of the company: a prompt of the set, greedy, or hot (temperature 2, penalties, own seed).
engine::Request CompanyRequest(Company company, const PreparedPrompt& prompt, uint32_t number);

}  // namespace samebit::verify
