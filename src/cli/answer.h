// One request through an engine, from submit to answer, with Ctrl-C as a way to stop it.
#pragma once

#include "base/result.h"
#include "engine/engine.h"

namespace samebit::cli {

// Steps until the request is done. After a Ctrl-C the answer so far is returned, its finish reason kCancelled.
// Failures: those of Engine::Submit and Engine::Take.
Result<engine::Completion> Answer(engine::Engine& engine, engine::Request request, engine::TokenSink sink = nullptr);

}  // namespace samebit::cli
