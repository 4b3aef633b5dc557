// samebit replay-child (hidden): the restarted process of a replay matrix. Job on standard input, answer on standard
// output; the protocol is verify/child.h.
#include <iostream>
#include <iterator>

#include "cli/command.h"
#include "cli/packed_cache.h"
#include "verify/child.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

class ReplayChildCommand final : public Command {
 public:
  std::string name() const override { return "replay-child"; }
  std::string summary() const override { return "answers one job of a replay matrix from standard input"; }
  bool hidden() const override { return true; }
  std::vector<Flag> flags() override {
    return {Text("--packed-cache", "FOLDER", &packed_cache_, "as in samebit replay")};
  }

  Result<ExitCode> Run(const Outside&) override {
    const std::string job(std::istreambuf_iterator<char>(std::cin), {});
    ASSIGN_OR_RETURN(const std::string answer,
                     verify::ServeChildJob(job, world::ProcessId(), WeightsLoaderOf(packed_cache_)));
    if (!WriteOut(answer)) return Error{ErrorCode::kIo, "the answer could not be written"};
    return ExitCode::kHolds;
  }

 private:
  std::optional<std::string> packed_cache_;
};

}  // namespace

std::unique_ptr<Command> MakeReplayChildCommand() { return std::make_unique<ReplayChildCommand>(); }

}  // namespace samebit::cli
