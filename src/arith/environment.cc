#include "arith/environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace samebit::arith {

void EnterFloatEnvironment() {
#if defined(__x86_64__)
  _mm_setcsr(0x1f80);  // all exceptions masked, round to nearest, FTZ and DAZ off
#elif defined(__aarch64__)
  const uint64_t fpcr = 0;
  asm volatile("msr fpcr, %0" : : "r"(fpcr));
#endif
}

bool FloatEnvironmentHolds() {
  // volatile: the operations must happen in this thread now, not in the compiler.
  volatile float one = 1.0f, tiny = 0x1p-24f, smallest_normal = 0x1p-126f, half = 0.5f;
  const bool ties_to_even = one + tiny == 1.0f && (one + 0x1p-23f) + tiny == 1.0f + 0x1p-22f;
  volatile float subnormal = smallest_normal * half;
  const bool gradual_underflow = std::bit_cast<uint32_t>(static_cast<float>(subnormal)) == 0x00400000u;
  const bool denormal_inputs = subnormal + subnormal == smallest_normal;
  // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 fused and 0 unfused.
  volatile float x = 1.0f + 0x1p-12f, y = -(1.0f + 0x1p-11f);
  const bool fused = Fma(x, x, y) == 0x1p-24f && SoftFma(x, x, y) == 0x1p-24f;
  const float product = x * x;
  const bool not_contracted = product + y == 0.0f;
  return ties_to_even && gradual_underflow && denormal_inputs && fused && not_contracted;
}

}  // namespace samebit::arith
