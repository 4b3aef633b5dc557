// samebit doctor: what this machine is, and what would refuse tier 2 on it.
#include "cli/command.h"
#include "cli/examination.h"

namespace samebit::cli {
namespace {

class DoctorCommand final : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override { return "what this machine can do, and what would refuse tier 2 on it"; }
  std::string examples() const override {
    return "Exit code: 0 tier 2 would be possible, 1 it would be refused.\n\nExamples:\n  samebit doctor\n"
           "  samebit doctor model.gguf --json";
  }
  std::vector<Flag> flags() override {
    return {Text("MODEL", "", &model_path_, "a model to look at as well"),
            Switch("--json", &json_, true, "print one JSON object")};
  }

  Result<ExitCode> Run(const Outside&) override {
    const Examination found = Examine(model_path_.value_or(""));
    WriteOut(json_ ? ExaminationJson(found) + "\n" : ExaminationText(found));
    return found.refusals.empty() ? ExitCode::kHolds : ExitCode::kDoesNotHold;
  }

 private:
  std::optional<std::string> model_path_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDoctorCommand() { return std::make_unique<DoctorCommand>(); }

}  // namespace samebit::cli
