// What `samebit doctor` finds out about this machine, as plain data. It changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.h"
#include "cli/command.h"
#include "kernels/isa.h"

namespace samebit::cli {

struct IsaExamination {
  kernels::Isa isa = kernels::Isa::kScalar;
  Sha256Digest digest;
  bool passed = false;
  std::string failure;  // which operation differs
};

struct ModelExamination {
  std::string path, name, family;
  uint64_t file_bytes = 0;
  uint32_t context = 0;
  bool chat_template = false;
  bool generates = true;  // false: a sentence encoder
  std::string sha256;  // of a single file; empty for a folder
};

struct Examination {
  std::string cpu;
  uint32_t threads = 0;
  uint64_t memory_total_bytes = 0;
  uint64_t memory_available_bytes = 0;
  std::string huge_pages;                // "always", "madvise", "never", "unknown"
  bool float_environment_found = false;  // as the process began
  bool float_environment_holds = false;  // after the law's environment was entered, in every worker
  std::string golden_digest;
  std::vector<IsaExamination> isas;
  kernels::Isa chosen = kernels::Isa::kScalar;
  std::vector<ModelExamination> models;  // none or one
  std::vector<std::string> refusals;     // what would refuse tier 2 here, each with its reason
  std::vector<std::string> remarks;      // what is worth knowing and refuses nothing
};

// model_path: "" for none. A model that cannot be used is a refusal, not a failure.
Examination Examine(const std::string& model_path);

// For people, and schema samebit.doctor/1.
std::string ExaminationText(const Examination& examination);
std::string ExaminationJson(const Examination& examination);

}  // namespace samebit::cli
