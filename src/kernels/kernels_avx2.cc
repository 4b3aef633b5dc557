// The kernels for AVX2, FMA and F16C. Compiled with the flags in CMakeLists.txt.
#include "kernels/kernels.h"
#include "base/check.h"
#include "kernels/tables.h"
#include "kernels/simd/vector_avx2.h"
#include "kernels/simd/payload_avx2.h"
#include "kernels/simd/table.h"

namespace samebit::kernels {

const KernelTable kAvx2Kernels = TableOf(Isa::kAvx2);

}  // namespace samebit::kernels
