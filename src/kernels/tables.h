// The tables that this binary was built with. Use Kernels() of kernels.h; this is between dispatch.cc and the units.
#pragma once

#include "kernels/kernels.h"

namespace samebit::kernels {

extern const KernelTable kScalarKernels;
#if defined(__x86_64__)
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
extern const KernelTable kAvx512VnniKernels;
#elif defined(__aarch64__)
extern const KernelTable kNeonKernels;
#endif

}  // namespace samebit::kernels
