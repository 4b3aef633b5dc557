// A chat in the terminal: the conversation so far is kept as token ids, so that every turn continues exactly what the
// model has read and written (and what the prefix cache holds).
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/effective_sampling.h"
#include "cli/load_model.h"
#include "engine/engine.h"

namespace samebit::cli {

struct ChatSettings {
  std::string system;  // "": none
  std::optional<int64_t> now_unix_seconds;
};

// Until /exit, the end of input, or a Ctrl-C at the prompt. Ctrl-C during an answer stops that answer; /reset forgets
// the conversation. Failures: those of RenderChat for the first turn; later ones are told and the chat goes on.
Result<ExitCode> Chat(const Outside& outside, const LoadedModel& loaded, engine::Engine& engine,
                      const EffectiveSampling& sampling, const ChatSettings& settings);

}  // namespace samebit::cli
