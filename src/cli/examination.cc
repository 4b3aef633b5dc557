#include "cli/examination.h"

#include <atomic>

#include "arith/environment.h"
#include "kernels/self_test.h"
#include "kernels/team.h"
#include "model/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "world/file.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

// The word in brackets of "always [madvise] never".
std::string HugePages() {
  const auto text = world::ReadWholeFile("/sys/kernel/mm/transparent_hugepage/enabled", 4096);
  if (!text.ok()) return "unknown";
  const size_t begin = text->find('['), end = text->find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "unknown";
  return text->substr(begin + 1, end - begin - 1);
}

void ExamineFloats(Examination& found) {
  found.float_environment_found = arith::FloatEnvironmentHolds();
  arith::EnterFloatEnvironment();
  std::atomic<bool> holds = arith::FloatEnvironmentHolds();
  kernels::Team team(found.threads);
  team.Run([&](kernels::Worker&) {
    if (!arith::FloatEnvironmentHolds()) holds = false;
  });
  found.float_environment_holds = holds;
  if (!found.float_environment_holds) {
    found.refusals.push_back(
        "float environment: a worker does not compute as IEEE 754 says (rounding, subnormals or fused products), even "
        "after it was set");
  } else if (!found.float_environment_found) {
    found.remarks.push_back(
        "the process began with a changed float environment (a library was built with fast-math); samebit sets it "
        "back");
  }
}

void ExamineKernels(Examination& found) {
  found.golden_digest = kernels::GoldenSelfTestDigest();
  for (const kernels::Isa isa : kernels::AvailableIsas()) {
    IsaExamination one;
    one.isa = isa;
    one.digest = kernels::SelfTestDigest(kernels::Kernels(isa));
    const Status status = kernels::SelfTest(kernels::Kernels(isa));
    one.passed = status.ok();
    if (!one.passed) {
      one.failure = status.error().message;
      const bool chosen = isa == kernels::BestIsa();
      const std::string line = std::string("self-test of ") + kernels::IsaName(isa) + ": " + one.failure;
      if (chosen)
        found.refusals.push_back(line);
      else
        found.remarks.push_back(line + "; choose another with --isa");
    }
    found.isas.push_back(std::move(one));
  }
  found.chosen = kernels::BestIsa();
}

Result<ModelExamination> ExamineModel(const std::string& path) {
  ModelExamination found;
  ASSIGN_OR_RETURN(const auto model, model::Open(path));
  ASSIGN_OR_RETURN([[maybe_unused]] const auto tokenizer, text::MakeTokenizer(model->tokenizer()));
  if (model->tokenizer().chat_template) {
    ASSIGN_OR_RETURN([[maybe_unused]] const auto chat, text::MakeChatTemplate(*model->tokenizer().chat_template));
    found.chat_template = true;
  }
  ASSIGN_OR_RETURN(const auto files, model->Digests());
  for (const model::FileDigest& file : files) found.file_bytes += file.bytes;
  if (files.size() == 1) found.sha256 = files.front().sha256.hex();
  found.path = path;
  found.name = model->config().name;
  found.family = model->config().family;
  found.context = model->config().context;
  found.generates = model->config().kind == model::ModelKind::kDecoder;
  return found;
}

}  // namespace

Examination Examine(const std::string& model_path) {
  Examination found;
  found.cpu = world::CpuModel();
  found.threads = world::CoresAvailable();
  const world::MemoryState memory = world::Memory();
  found.memory_total_bytes = memory.total_bytes;
  found.memory_available_bytes = memory.available_bytes;
  found.huge_pages = HugePages();
  ExamineFloats(found);
  ExamineKernels(found);
  if (model_path.empty()) return found;

  const Result<ModelExamination> model = ExamineModel(model_path);
  if (!model.ok()) {
    found.refusals.push_back("model: " + model.error().message);
    return found;
  }
  if (model->file_bytes > found.memory_available_bytes) {
    found.refusals.push_back("memory: the model has " + std::to_string(model->file_bytes) + " bytes and " +
                             std::to_string(found.memory_available_bytes) + " are available");
  }
  if (model->generates && !model->chat_template) found.remarks.push_back("the model has no chat template: use --raw");
  found.models.push_back(model.value());
  return found;
}

}  // namespace samebit::cli
