// The kernels for AVX-512 F, BW, DQ and VL. Compiled with the flags in CMakeLists.txt.
#include "kernels/kernels.h"
#include "base/check.h"
#include "kernels/tables.h"
#include "kernels/simd/vector_avx512.h"
#include "kernels/simd/payload.h"
#include "kernels/simd/table.h"

namespace samebit::kernels {

const KernelTable kAvx512Kernels = TableOf(Isa::kAvx512);

}  // namespace samebit::kernels
