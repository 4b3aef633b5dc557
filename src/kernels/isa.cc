#include "kernels/isa.h"

#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace samebit::kernels {

namespace {

constexpr Isa kAll[] = {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kNeon};

#if defined(__x86_64__)

// Which register files the operating system saves on a task switch; without that an instruction faults or loses bits.
uint64_t SavedState() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

bool Bit(uint32_t word, int bit) { return (word >> bit) & 1; }

void AddX86(std::vector<Isa>* isas) {
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return;
  const bool fma = Bit(ecx, 12), os_saves = Bit(ecx, 27), avx = Bit(ecx, 28), f16c = Bit(ecx, 29);
  if (!os_saves || !avx || !fma || !f16c) return;
  const uint64_t saved = SavedState();
  constexpr uint64_t kYmm = 0x06, kZmm = 0xe6;  // SSE and AVX; and the masks and the upper halves of AVX-512
  if ((saved & kYmm) != kYmm) return;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || !Bit(ebx, 5)) return;
  isas->push_back(Isa::kAvx2);
  const bool avx512 = Bit(ebx, 16) && Bit(ebx, 17) && Bit(ebx, 30) && Bit(ebx, 31);  // F, DQ, BW, VL
  if (!avx512 || (saved & kZmm) != kZmm) return;
  isas->push_back(Isa::kAvx512);
  if (Bit(ecx, 11)) isas->push_back(Isa::kAvx512Vnni);
}

#endif

}  // namespace

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx512Vnni:
      return "avx512vnni";
    case Isa::kNeon:
      return "neon";
  }
  CHECK(false);
}

Result<Isa> ParseIsa(std::string_view name) {
  std::string names;
  for (const Isa isa : kAll) {
    if (name == IsaName(isa)) return isa;
    names += (names.empty() ? "" : ", ") + std::string(IsaName(isa));
  }
  return Error{ErrorCode::kInvalidArgument,
               "instruction set: expected one of " + names + "; found \"" + std::string(name) + "\""};
}

std::vector<Isa> AvailableIsas() {
  std::vector<Isa> isas = {Isa::kScalar};
#if defined(__x86_64__)
  AddX86(&isas);
#elif defined(__aarch64__)
  isas.push_back(Isa::kNeon);  // part of the aarch64 baseline
#endif
  return isas;
}

}  // namespace samebit::kernels
