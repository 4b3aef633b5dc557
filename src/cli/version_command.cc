// samebit version: this program, its law of arithmetic, and what it was built from.
#include "cli/command.h"
#include "cli/versions.h"

namespace samebit::cli {
namespace {

class VersionCommand final : public Command {
 public:
  std::string name() const override { return "version"; }
  std::string summary() const override { return "this program's version and what it was built from"; }
  std::vector<Flag> flags() override { return {}; }

  Result<ExitCode> Run(const Outside&) override {
    for (const NamedVersion& one : Versions()) WriteOut(one.name + " " + one.version + "\n");
    return ExitCode::kHolds;
  }
};

}  // namespace

std::unique_ptr<Command> MakeVersionCommand() { return std::make_unique<VersionCommand>(); }

}  // namespace samebit::cli
