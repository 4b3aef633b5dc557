// The object that `samebit run --json` prints.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/effective_sampling.h"
#include "cli/load_model.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace samebit::cli {

struct AnswerDocument {
  const LoadedModel& loaded;
  const EffectiveSampling& sampling;
  const std::vector<TokenId>& prompt;
  const engine::Completion& completion;
  const engine::EngineOptions& options;
  bool logprobs = false;  // per token
};

// Failure: kIo (the model's files could not be read again for their digests).
Result<std::string> AnswerJson(const AnswerDocument& document);

}  // namespace samebit::cli
