// The kernels in plain C++: any machine, no flags. What replay's `scalar` axis runs.
#include "kernels/kernels.h"
#include "base/check.h"
#include "kernels/tables.h"
#include "kernels/simd/vector_scalar.h"
#include "kernels/simd/payload.h"
#include "kernels/simd/table.h"

namespace samebit::kernels {

const KernelTable kScalarKernels = TableOf(Isa::kScalar);

}  // namespace samebit::kernels
