// Instruction sets: which ones this process can run, and how they are named. Detection only; dispatch is in kernels.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::kernels {

enum class Isa : uint8_t {
  kScalar,      // plain C++, the baseline of the target; fma in software where the baseline has none
  kAvx2,        // AVX2 + FMA + F16C
  kAvx512,      // AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  // and VNNI
  kNeon,        // aarch64 baseline
};

const char* IsaName(Isa isa);  // "scalar", "avx2", "avx512", "avx512vnni", "neon"
Result<Isa> ParseIsa(std::string_view name);  // kInvalidArgument lists the names

// In ascending order of speed; always starts with kScalar. What the machine has and this binary was built with.
std::vector<Isa> AvailableIsas();
inline Isa BestIsa() { return AvailableIsas().back(); }

}  // namespace samebit::kernels
