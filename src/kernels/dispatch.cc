#include "base/check.h"
#include "kernels/kernels.h"
#include "kernels/tables.h"

namespace samebit::kernels {

const KernelTable& Kernels(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return kScalarKernels;
#if defined(__x86_64__)
    case Isa::kAvx2: return kAvx2Kernels;
    case Isa::kAvx512: return kAvx512Kernels;
    case Isa::kAvx512Vnni: return kAvx512VnniKernels;
#elif defined(__aarch64__)
    case Isa::kNeon: return kNeonKernels;
#endif
    default: break;
  }
  CHECK(false);
}

}  // namespace samebit::kernels
