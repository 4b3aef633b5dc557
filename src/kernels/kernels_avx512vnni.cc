// The kernels for AVX-512 F, BW, DQ, VL and VNNI. Compiled with the flags in CMakeLists.txt.
#define SAMEBIT_VNNI
#include "kernels/kernels.h"
#include "base/check.h"
#include "kernels/tables.h"
#include "kernels/simd/vector_avx512.h"
#include "kernels/simd/payload.h"
#include "kernels/simd/table.h"

namespace samebit::kernels {

const KernelTable kAvx512VnniKernels = TableOf(Isa::kAvx512Vnni);

}  // namespace samebit::kernels
