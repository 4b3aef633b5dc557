#include "cli/answer.h"

#include "cli/interrupt.h"

namespace samebit::cli {

Result<engine::Completion> Answer(engine::Engine& engine, engine::Request request, engine::TokenSink sink) {
  ASSIGN_OR_RETURN(const engine::RequestId id, engine.Submit(std::move(request), std::move(sink)));
  bool cancelled = false;
  while (true) {
    if (auto answer = engine.Take(id)) return std::move(*answer);
    if (Interrupted() && !cancelled) {
      engine.Cancel(id);
      cancelled = true;
    }
    const bool worked = engine.Step();
    if (!worked) {
      auto answer = engine.Take(id);
      CHECK(answer.has_value());
      return std::move(*answer);
    }
  }
}

}  // namespace samebit::cli
