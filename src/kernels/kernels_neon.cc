// The kernels for aarch64, whose baseline includes NEON and fma.
#include "kernels/kernels.h"
#include "base/check.h"
#include "kernels/tables.h"
#include "kernels/simd/vector_neon.h"
#include "kernels/simd/payload.h"
#include "kernels/simd/table.h"

namespace samebit::kernels {

const KernelTable kNeonKernels = TableOf(Isa::kNeon);

}  // namespace samebit::kernels
